// What is read from the client's statistics.
#include "kafka/group/statistics.h"

#include "catch.h"

using namespace laneway::kafka;

namespace {

std::string partition(int number, int received) {
  return "\"" + std::to_string(number) + R"(":{"partition":)" + std::to_string(number) + R"(,"leader":)" +
         std::to_string(number - 1) + R"(,"fetch_state":"active","rxmsgs":1,"rxbytes":)" +
         std::to_string(received) + R"(,"lag":[1,2],"x":{"rxbytes":7}})";
}

}  // namespace

TEST_CASE("the client's statistics give fetched bytes and leaders of partitions, and states of brokers") {
  const auto text =
      R"({"name":"c","age":1.5,"rxbytes":9,"brokers":{"a:1/1":{"state":"DOWN"},"b:1/2":{"state":"UP"}},)"
      R"("topics":{"orders":{"topic":"orders","partitions":{)" +
      partition(0, 100) + "," + partition(1, 0) + "," + partition(-1, 5) +
      R"(}},"payments":{"partitions":{)" + partition(12, 300) +
      R"(}},"empty":{}},"cgrp":{"state":"up","partitions":null}})";
  const auto statistics = read_statistics(text);
  CHECK(statistics.connected);
  REQUIRE(statistics.fetched.size() == 2);
  CHECK(statistics.fetched[0].first == TopicPartition{"orders", 0});
  CHECK(statistics.fetched[0].second == 100);
  CHECK(statistics.fetched[1].first == TopicPartition{"payments", 12});
  CHECK(statistics.fetched[1].second == 300);
  CHECK(statistics.leaders ==
        std::map<TopicPartition, std::int32_t>{{{"orders", 1}, 0}, {{"payments", 12}, 11}});
}

TEST_CASE("a log whose stable end is before its end has an open transaction") {
  const auto one = [](const std::string& offsets) {
    return read_statistics(R"({"topics":{"orders":{"partitions":{"0":{"partition":0,)" + offsets + "}}}}}")
        .open_transactions;
  };
  CHECK(one(R"("hi_offset":9,"ls_offset":5)") == std::map<TopicPartition, std::int64_t>{{{"orders", 0}, 5}});
  CHECK(one(R"("hi_offset":9,"ls_offset":9)").empty());
  CHECK(one(R"("hi_offset":9,"ls_offset":-1001)").empty());
  CHECK(one(R"("hi_offset":-1001,"ls_offset":-1001)").empty());
}

TEST_CASE("invalid statistics give no fetched bytes, and no news of brokers") {
  for (const auto* text : {"", "nonsense", "[1,2]", "7", R"({"brokers":{"a":{"state":"DOWN"}}, "topics":)"}) {
    const auto statistics = read_statistics(text);
    CHECK(statistics.connected);
    CHECK(statistics.fetched.empty());
  }
  CHECK_FALSE(read_statistics(R"({"brokers":{"a":{"state":"CONNECT"}},"topics":{}})").connected);
}

TEST_CASE("a lost coordinator is noticed while brokers are connected") {
  const auto of = [](const std::string& state) {
    return read_statistics(R"({"brokers":{"a:1/1":{"state":"UP"}},"cgrp":{"state":")" + state + R"("}})");
  };
  CHECK(of("up").coordinator);
  CHECK(of("wait-broker-transport").connected);
  CHECK_FALSE(of("wait-broker-transport").coordinator);
  CHECK(read_statistics(R"({"brokers":{"a:1/1":{"state":"UP"}}})").coordinator);
}

TEST_CASE("the delays by quotas are summed over the brokers") {
  const auto statistics = read_statistics(
      R"({"brokers":{"a:1/1":{"state":"UP","rtt":{"sum":7},"throttle":{"min":1,"max":900,"avg":5,"sum":1200}},)"
      R"("b:1/2":{"throttle":{"sum":34,"cnt":3}},"c:1/3":{"throttle":{"sum":0}}}})");
  CHECK(statistics.throttled == laneway::milliseconds(1234));
}

TEST_CASE("the connected brokers are listed with their addresses") {
  const auto statistics = read_statistics(
      R"({"brokers":{"kafka-1:9092/1":{"state":"UP"},"kafka-2:9092/2":{"state":"CONNECT"},"kafka-1:9092/bootstrap":{"state":"DOWN"},"GroupCoordinator":{"state":"UP"}}})");
  CHECK(statistics.brokers == std::vector<std::string>{"kafka-1:9092"});
}

TEST_CASE("the connection kept for a coordinator counts while the coordinator is known") {
  const auto connected = [](const std::string& group) {
    return read_statistics(
               R"({"brokers":{"a":{"state":"DOWN"},"GroupCoordinator":{"state":"UP"}},"cgrp":{"state":")" +
               group + R"("}})")
        .connected;
  };
  CHECK(connected("up"));
  CHECK_FALSE(connected("wait-coord"));
}
