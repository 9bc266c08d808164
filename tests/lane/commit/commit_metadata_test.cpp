#include "lane/commit/commit_metadata.h"

#include <rapidcheck.h>

#include "captured_log.h"
#include "catch.h"
#include "lane/support.h"

using namespace laneway;
using namespace laneway::lane;

namespace {

const std::string map = "laneway1:6AcCAwrIAdIyeeU";
constexpr const char* this_topic = "7kQ0m2XwTzu7v5n0mQmR3A";
constexpr const char* other_topic = "Zx9eQ1BsQ7m0cYk1aPpLrw";

/// A committed offset of partition 3 of "orders", as the brokers answer.
kafka::CommittedOffset committed(std::int64_t offset, std::string metadata) {
  return {{"orders", 3}, offset, std::move(metadata), this_topic};
}

/// How many of the records 0 to 9 a lane runs that begins with `start`.
std::size_t run_by(const kafka::CommittedOffset& start) {
  TestLane test;
  test.context.cluster = "this cluster";
  test.partition.add_run(0, 10);
  test.handler.open();
  test.lane = std::make_unique<Lane>(test.context, start, 7, [] {});
  test.lane->start(std::make_unique<SimulatedSource>(test.partition), test.now);
  REQUIRE(test.until([&] { return test.commit_offset() == 10; }));
  return test.lane->stats().outcomes[0].get();
}

}  // namespace

TEST_CASE("the metadata of a commit is fields and then the map, and is read as it was written") {
  CHECK(fields_of({{2, 7, 1, 0, {9}}, {this_topic, "a cluster"}, {}, map}) ==
        "lives=2 suspect=7 deaths=1 by=9 topic=7kQ0m2XwTzu7v5n0mQmR3A ");
  CHECK(fields_of({{}, {"", "4711"}, {}, map}) == "cluster=4711 ");
  CHECK(fields_of({{}, {}, {}, map}).empty());
  const auto read = read_metadata("lives=2 by=9 topic=7kQ0m2XwTzu7v5n0mQmR3A " + map);
  CHECK(read.lives == LifeMarker{2, {}, 0, 0, {9}});
  CHECK(read.log.topic == this_topic);
  CHECK(read.map == map);
}

TEST_CASE("fields of a later version are skipped, wherever they stand") {
  for (const std::string text :
       {"new=1 topic=abc ", "topic=abc new=a:b,c ", "lives=2 new= topic=abc else=x "}) {
    INFO(text);
    const auto read = read_metadata(text + map);
    CHECK(read.log.topic == "abc");
    CHECK(read.map == map);
  }
}

TEST_CASE("what is no field is left as the map, which is refused if laneway did not write it") {
  for (const std::string text : {"", "somebody's text", "=1 ", "topic=abc", "Topic=abc x", "a b=c "})
    CHECK(read_metadata(text).map == text);
  CHECK(read_metadata(map).map == map);
}

TEST_CASE("a map is used for its own log only, and for any log if it names none") {
  const LogName own{this_topic, "this cluster"};
  CHECK_FALSE(foreign({}, own));
  CHECK_FALSE(foreign({}, {}));
  CHECK_FALSE(foreign({this_topic, ""}, own));
  CHECK_FALSE(foreign({"", "this cluster"}, own));
  using Catch::Contains;
  CHECK_THAT(*foreign({other_topic, ""}, own), Contains("another topic") && Contains(this_topic));
  CHECK_THAT(*foreign({"", "another"}, own), Contains("another cluster"));
  CHECK_THAT(*foreign({this_topic, ""}, {"", "this cluster"}), Contains("could not be read"));
  CHECK_THAT(*foreign({"", "this cluster"}, {this_topic, ""}), Contains("could not be read"));
}

TEST_CASE("a lane ignores what was committed for another topic, and says so") {
  const auto metadata = [](const std::string& topic) {
    return "lives=3 topic=" + topic + ' ' + encode(CompletionMap{0, {{1, 4}}});
  };
  CHECK(run_by(committed(0, metadata(this_topic))) == 7);
  CHECK(run_by(committed(0, encode(CompletionMap{0, {{1, 4}}}))) == 7);  // of an older version
  CHECK(run_by(committed(0, "cluster=this " + encode(CompletionMap{0, {{1, 4}}}))) == 10);
  const CapturedLog log;
  CHECK(run_by(committed(0, metadata(other_topic))) == 10);
  CHECK(log.lines({"completion map ignored", "topic=orders partition=3", "another topic", other_topic}) == 1);
}

TEST_CASE("a lane names its log beside a map, and only there") {
  TestLane test;
  test.context.cluster = "4711";
  test.partition.add_run(0, 3);
  test.lane = std::make_unique<Lane>(test.context, committed(0, ""), 7, [] {});
  test.lane->start(std::make_unique<SimulatedSource>(test.partition), test.now);
  test.handler.answer(1);
  REQUIRE(test.until_outstanding(2));
  CHECK(test.lane->commit_candidate()->metadata ==
        "topic=7kQ0m2XwTzu7v5n0mQmR3A " + encode(CompletionMap{0, {{1, 2}}}));
  CHECK(test.lane->commit_candidate(30)->metadata.empty());  // no room for both
  test.handler.answer_done({0, 2});
  REQUIRE(test.until_outstanding(0));
  CHECK(test.lane->commit_candidate()->metadata.empty());
}
