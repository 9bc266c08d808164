#include "lane/commit/commit_position.h"

#include "captured_log.h"
#include "catch.h"
#include "lane/support.h"

using namespace laneway;
using namespace laneway::lane;

namespace {

constexpr const char* this_topic = "7kQ0m2XwTzu7v5n0mQmR3A";
constexpr const char* other_topic = "Zx9eQ1BsQ7m0cYk1aPpLrw";

/// A commit of partition 3 of "orders", as the brokers answer.
StoredCommit committed(std::int64_t offset, std::string text) {
  return StoredCommit::read({{"orders", 3}, offset, std::move(text), this_topic});
}

/// How many of the records 0 to 9 a lane runs that begins with `start`.
std::size_t run_by(const StoredCommit& start) {
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

TEST_CASE("a lane ignores and reports a map of another topic") {
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

TEST_CASE("a lane names its log only beside a map") {
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

TEST_CASE("what was stored for another log is ignored as a whole") {
  const CapturedLog log;
  LaneContext context;
  const std::string stored =
      "lives=2 topic=another suspended=5 failed=1 " + encode(CompletionMap{0, {{1, 4}}});
  const auto start = own_start(context, committed(0, stored));
  CHECK(start.offset == 0);
  CHECK(start.topic_id == this_topic);
  CHECK(start.lives == LifeMarker{});
  CHECK_FALSE(start.suspension);
  CHECK(start.suspects.empty());
  CHECK_FALSE(start.has_map());
  CHECK(log.lines({"completion map ignored", "offset=0", "another topic"}) == 1);
}

TEST_CASE("while the id of the log cannot be read, only the map is ignored") {
  const CapturedLog log;
  LaneContext context;
  const std::string fields = "lives=2 cluster=4711 suspended=5 failed=1 ";
  const auto start = own_start(context, committed(0, fields + encode(CompletionMap{0, {{1, 4}}})));
  CHECK(start.lives == LifeMarker{2});
  CHECK(start.suspension == Suspension{true, 5});
  CHECK(start.suspects == std::vector<std::int64_t>{1});
  CHECK_FALSE(start.has_map());
  CHECK(ledger_of(start).committable() == 0);
  CHECK_FALSE(ledger_of(start).completed_before(1));
  CHECK(log.lines({"completion map ignored", "could not be read"}) == 1);
  CHECK(own_start(context, committed(0, fields)).suspension);
  CHECK(log.lines({"completion map ignored"}) == 1);  // there was no map
}

TEST_CASE("a ledger begins at the commit, with the map, or without a map that cannot be read") {
  const CapturedLog log;
  const auto ledger = ledger_of(committed(7, encode(CompletionMap{7, {{9, 11}}})));
  CHECK(ledger.committable() == 7);
  CHECK(ledger.completed_before(10));
  CHECK_FALSE(ledger.completed_before(8));
  CHECK(log.lines({"completion map ignored"}) == 0);
  const auto other = ledger_of(committed(7, "somebody's text"));
  CHECK(other.committable() == 7);
  CHECK_FALSE(other.completed_before(10));
  CHECK(log.lines({"completion map ignored", "not written by this version"}) == 1);
  CHECK(ledger_of(committed(kafka::no_offset, "")).committable() == Ledger::unknown);
}
