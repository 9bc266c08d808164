// What group.protocol: consumer makes different, without brokers.
#include "kafka/group/group_protocol.h"

#include "catch.h"

using namespace laneway;
using namespace laneway::kafka;

namespace {

ClientSettings with_protocol(const std::string& protocol) {
  ClientSettings settings;
  settings["group.protocol"] = {protocol, "f.yaml:3:5", false};
  return settings;
}

}  // namespace

TEST_CASE("the brokers distribute where group.protocol is consumer, however it is written") {
  CHECK_FALSE(brokers_distribute({}));
  CHECK_FALSE(brokers_distribute(with_protocol("classic")));
  CHECK(brokers_distribute(with_protocol("Consumer")));
}

TEST_CASE(
    "a member that stops leaves by a request, unless the brokers distribute or know the member by name") {
  CHECK(leaves_by_request({}));
  CHECK_FALSE(leaves_by_request(with_protocol("consumer")));
  CHECK_FALSE(leaves_by_request({{"group.instance.id", {"host-a", "", false}}}));
}

TEST_CASE("partitions are given back one by one under a cooperative protocol only") {
  CHECK(is_cooperative("COOPERATIVE"));
  CHECK_FALSE(is_cooperative("EAGER"));
  CHECK_FALSE(is_cooperative("NONE"));
  CHECK_FALSE(is_cooperative(nullptr));
}

TEST_CASE("a broker offers the protocol by its list of protocols, or by knowing the settings of it") {
  const std::string list = "group.coordinator.rebalance.protocols";
  CHECK(offers_consumer_protocol({{list, "classic,consumer"}}));
  CHECK_FALSE(offers_consumer_protocol({{list, "classic"}, {"group.consumer.session.timeout.ms", "45000"}}));
  CHECK(offers_consumer_protocol({{"group.consumer.session.timeout.ms", "45000"}}));
  CHECK_FALSE(offers_consumer_protocol({{"log.retention.ms", "1"}}));
}

TEST_CASE("a fatal refusal says what to do, where that is known") {
  struct Row {
    int code;
    ErrorKind kind;
    const char* words;
  };
  for (const auto& [code, kind, words] :
       {Row{35, ErrorKind::configuration, "disabled it"},
        Row{112, ErrorKind::configuration, "kafka.group.remote.assignor"},
        Row{69, ErrorKind::configuration, "group.consumer.migration.policy"},
        Row{111, ErrorKind::unavailable, "group.instance.id"},
        Row{82, ErrorKind::fatal, "the client's own words"}}) {
    const auto error = membership_error(code, "the client's own words");
    CAPTURE(code, error.text());
    CHECK(error.kind == kind);
    CHECK(error.text().find(words) != std::string::npos);
  }
}
