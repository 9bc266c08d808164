// A suspension by an operator travels in the commits of its partition.
#include "captured_log.h"
#include "catch.h"
#include "lane/support.h"

using namespace laneway;
using namespace laneway::lane;

namespace {

/// Lanes of one partition, one after the other, in processes that remember what was decided in them.
struct SuspendedLane : TestLane {
  SuspendedLane() {
    context.suspensions = &suspensions;
    handler.open();
  }
  void decide(bool suspended, std::int64_t at_ms) {
    suspensions.decide("orders", 3, {suspended, at_ms});
    lane->follow_suspensions(now);
    work();
  }
  bool suspended() { return lane->detail(now).held_by == "suspended"; }
  /// Commits as the loop does, and returns what was committed.
  std::string committed() {
    const auto candidate = lane->commit_candidate();
    if (!candidate) return "nothing";
    lane->committed(*candidate);
    return std::to_string(candidate->offset) + ' ' + candidate->metadata;
  }

  Suspensions suspensions;
};

}  // namespace

TEST_CASE("a decision is committed at once, also without any other commit") {
  SuspendedLane test;
  test.begin(7);
  CHECK_FALSE(test.lane->wants_commit());
  test.decide(true, 1000);
  CHECK(test.suspended());
  CHECK(test.lane->wants_commit());
  CHECK(test.committed() == "7 suspended=1000 ");
  CHECK_FALSE(test.lane->wants_commit());
  CHECK(test.committed() == "nothing");
  CHECK(test.lane->detail(test.now).suspended_ms == 1000);
  test.decide(false, 2000);
  CHECK_FALSE(test.suspended());
  CHECK(test.lane->wants_commit());
  CHECK(test.committed() == "7 resumed=2000 ");
  CHECK_FALSE(test.lane->detail(test.now).suspended_ms);
}

TEST_CASE("the end of a suspension that never reached the brokers counts as stored") {
  SuspendedLane test;
  test.begin(kafka::no_offset);
  test.decide(true, 1000);
  CHECK(test.committed() == "nothing");
  CHECK(test.lane->stats().committed.decision_ms.get() == 0);
  test.decide(false, 2000);
  CHECK(test.lane->stats().committed.decision_ms.get() == 2000);
}

TEST_CASE("the brokers have a decision once its own commit is acknowledged") {
  SuspendedLane test;
  test.begin(7);
  const auto& stored_ms = test.lane->stats().committed.decision_ms;
  test.decide(true, 1000);
  const auto suspension = test.lane->commit_candidate();
  REQUIRE(suspension);
  test.decide(false, 2000);
  CHECK(stored_ms.get() == 0);
  test.lane->committed(*suspension);
  CHECK(stored_ms.get() == 1000);
  CHECK(test.committed() == "7 resumed=2000 ");
  CHECK(stored_ms.get() == 2000);
}

TEST_CASE("a lane whose last commit was suspended takes nothing, logs why, and goes on when it is resumed") {
  const CapturedLog log;
  SuspendedLane test;
  test.partition.add_run(7, 10);
  test.begin(7, "suspended=1767362531007 ");
  test.pass(seconds(1));
  CHECK(test.suspended());
  CHECK(test.handler.started().empty());
  CHECK_FALSE(test.lane->wants_commit());
  CHECK(log.lines({"lane suspended", "topic=orders partition=3", "2026-01-02T14:02:11.007Z"}) == 1);
  test.decide(false, 1767362531008);
  CHECK(test.in_time([&] { return test.commit_offset() == 10; }));
}

TEST_CASE("a drain commits a pending suspension, also of a lane without other commits") {
  SuspendedLane test;
  test.begin(7);
  test.decide(true, 1000);
  test.lane->begin_drain(test.now, test.now + seconds(1));
  CHECK(test.committed() == "7 suspended=1000 ");
  CHECK(test.committed() == "nothing");
}

TEST_CASE("a lane that never committed commits its suspension at its start, and skips no record") {
  SuspendedLane test;
  const bool records = GENERATE(true, false);
  if (records)
    test.partition.add_run(5, 9);
  else
    test.partition.add_end(5);
  test.suspensions.decide("orders", {}, {true, 1000});
  test.begin(kafka::no_offset);
  CHECK(test.until([&] { return test.lane->wants_commit(); }));
  CHECK(test.committed() == "5 suspended=1000 ");
  CHECK(test.handler.started().empty());
  test.decide(false, 2000);
  if (!records) test.partition.add_run(5, 9);
  CHECK(test.until_started({5, 6, 7, 8}));
}

TEST_CASE("a suspended lane at a corrupt batch commits no offset beyond the batch, and reports the batch") {
  SuspendedLane test;
  const auto kind = GENERATE(kafka::Pop::corrupt, kafka::Pop::not_decompressed);
  test.partition.log.push_back({kind, 5, {}, 0});
  test.partition.add_run(8, 9);
  test.suspensions.decide("orders", {}, {true, 1000});
  test.begin(kafka::no_offset);
  test.work();
  CHECK(test.committed() == "5 suspended=1000 ");
  CHECK(test.lane->detail(test.now).source_error.find("the batch of records at offset 5") == 0);
  test.decide(false, 2000);
  test.work();
  CHECK(test.handler.started().empty());
  test.partition.goes_back();
  test.partition.add_run(5, 9);  // another replica has the batch intact
  test.pass(seconds(31));
  CHECK(test.until_started({5, 6, 7, 8}));
}

TEST_CASE("brokers that accept only short metadata get the suspension without other fields") {
  const CapturedLog log;
  SuspendedLane test;
  test.context.cluster = "4711";
  test.partition.add_run(7, 8);
  test.partition.add_run(9, 10);
  test.begin(7);
  REQUIRE(test.until_outstanding(0));
  test.decide(true, 1000);
  const bool whole = GENERATE(false, true);
  CHECK(test.lane->commit_candidate(29, whole)->metadata == "cluster=4711 suspended=1000 ");
  CHECK(test.lane->commit_candidate(15, whole)->metadata == "suspended=1000 ");
  CHECK(log.lines({"a suspension is too long"}) == 0);
  CHECK(test.lane->commit_candidate(14, whole)->metadata.empty());
  CHECK(log.lines({"a suspension is too long", "topic=orders partition=3", "offset.metadata.max.bytes"}) ==
        1);
}

TEST_CASE("the later of two processes' decisions takes effect") {
  SuspendedLane test;
  // Suspended here, resumed elsewhere, and back: the process remembers the first.
  test.suspensions.decide("orders", {}, {true, 1000});
  test.begin(7, "resumed=2000 ");
  CHECK_FALSE(test.suspended());
  // Resumed here for what comes, and suspended elsewhere before.
  test.lane.reset();
  test.suspensions.decide("orders", {}, {false, 3000});
  test.begin(7, "suspended=2500 ");
  CHECK_FALSE(test.suspended());
  CHECK(test.committed() == "7 resumed=3000 ");
  // Never suspended, and suspended for what comes.
  test.lane.reset();
  test.suspensions.decide("orders", {}, {true, 4000});
  test.begin(7);
  CHECK(test.suspended());
}

TEST_CASE("a decision in the lane's process takes effect, even if the other clock was ahead") {
  SuspendedLane test;
  test.begin(7, "suspended=5000 ");
  test.decide(false, 1000);
  CHECK_FALSE(test.suspended());
  CHECK(test.committed() == "7 resumed=5001 ");
  test.decide(true, 1001);
  CHECK(test.suspended());
  CHECK(test.committed() == "7 suspended=5002 ");
}

TEST_CASE("a decision takes effect for later lanes, even if the other clock was ahead") {
  SuspendedLane test;
  test.begin(7, "suspended=5000 ");
  test.decide(false, 1000);
  test.lane.reset();  // before the decision was committed
  test.begin(7, "suspended=5000 ");
  CHECK_FALSE(test.suspended());
  CHECK(test.committed() == "7 resumed=5001 ");
}

TEST_CASE("a partition that another process resumed stays resumed, although its topic was suspended here") {
  SuspendedLane elsewhere;
  elsewhere.begin(7);
  elsewhere.decide(false, 2000);
  CHECK(elsewhere.lane->wants_commit());
  CHECK(elsewhere.committed() == "7 resumed=2000 ");
  SuspendedLane here;
  here.suspensions.decide("orders", {}, {true, 1000});
  here.begin(7, "resumed=2000 ");
  CHECK_FALSE(here.suspended());
}

TEST_CASE("a suspension of this process only is not committed") {
  SuspendedLane test;
  test.begin(7);
  test.suspensions.set_here("orders", 3, true);
  test.lane->follow_suspensions(test.now);
  CHECK(test.suspended());
  CHECK_FALSE(test.lane->wants_commit());
  CHECK(test.committed() == "nothing");
  CHECK_FALSE(test.lane->detail(test.now).suspended_ms);
}

TEST_CASE("a suspension names its log, and one of another log is ignored") {
  SuspendedLane test;
  test.context.cluster = "4711";
  test.begin(7);
  test.decide(true, 1000);
  CHECK(test.committed() == "7 cluster=4711 suspended=1000 ");
  test.lane.reset();
  test.suspensions.decide("orders", {}, {false, 0});
  test.begin(7, "cluster=4712 suspended=1000 ");
  CHECK_FALSE(test.suspended());
}

TEST_CASE("a suspension survives unreadable ids of the topic or cluster") {
  SuspendedLane test;
  const std::string log = GENERATE("topic=7kQ0m2XwTzu7v5n0mQmR3A ", "cluster=4712 ");
  test.partition.add_run(7, 9);
  test.begin(7, log + "suspended=1000 failed=1 " + encode(CompletionMap{7, {{8, 9}}}));
  CHECK(test.suspended());
  test.decide(false, 2000);
  CHECK(test.until_started({7, 8}));  // the map is not trusted
}

TEST_CASE("a lane that starts over keeps its suspension") {
  SuspendedLane test;
  test.begin(7, "suspended=1000 ");
  CHECK(test.lane->starting_point().suspension == Suspension{true, 1000});
  CHECK_FALSE(test.lane->starting_point().has_map());
}

TEST_CASE("a paused lane also finds its starting offset, so that a suspension can be committed") {
  SuspendedLane test;
  test.context.lanes.pause_after = seconds(1);
  test.partition.add_run(5, 9);
  test.suspensions.set_here("orders", 3, true);
  test.begin(kafka::no_offset);
  test.pass(seconds(1));
  REQUIRE(test.lane->state() == State::paused);
  test.decide(true, 1000);
  test.pass(seconds(1));
  CHECK(test.committed() == "5 suspended=1000 ");
  CHECK(test.suspended());
  test.pass(seconds(1));
  CHECK(test.lane->state() == State::paused);
}
