// Processes that die: the marker that a lane writes before records begin, and the record that is found as the
// cause.
#include <rapidcheck.h>

#include "lane/dead_letter_topic.h"
#include "lane/support.h"

using namespace laneway;
using namespace laneway::lane;

namespace {

struct WatchedLane : TestLane {
  WatchedLane() {
    context.retry.max_crashes = 3;
    context.forward = &topic;
  }
  ~WatchedLane() {
    handler.open();
    lane.reset();
  }
  /// The marker and offset of the next commit; the broker acknowledges it.
  LifeMarker commit_marker() {
    const auto candidate = lane->commit_candidate();
    if (!candidate) return {};
    lane->committed(*candidate);
    return StoredCommit::read(*candidate).lives;
  }
  /// Commits as often as the lane wants a commit.
  void serve_commits() {
    for (work(); lane->wants_commit(); work()) (void)commit_marker();
  }

  DeadLetterTopic topic;
};

/// Of one process, with two records each.
struct TwoCarefulLanes {
  TwoCarefulLanes() {
    for (auto* lane : {&one, &other}) {
      lane->context.careful_turn = &turn;
      lane->partition.add_run(0, 2);
      lane->begin(0, "lives=2 ");
    }
  }

  CarefulTurn turn;
  WatchedLane one;
  WatchedLane other;
};

}  // namespace

TEST_CASE("a lane commits at once that its life has begun, and at the end that its life has ended") {
  WatchedLane test;
  test.partition.add_run(0, 2);
  test.begin();
  test.work();
  CHECK(test.lane->wants_commit());
  CHECK(test.commit_marker() == LifeMarker{1, {}, 0});
  CHECK_FALSE(test.lane->wants_commit());
  CHECK_FALSE(test.lane->commit_candidate());
  test.handler.open();
  REQUIRE(test.until_outstanding(0));
  test.lane->begin_drain(test.now, test.now + seconds(1));
  REQUIRE(test.until_drained());
  CHECK_FALSE(test.lane->wants_commit());
  const auto last = test.lane->commit_candidate();
  REQUIRE(last);
  CHECK(last->offset == 2);
  CHECK(last->metadata.empty());
}

// The topic may have been deleted and created again, unseen by the client: then the new topic would get the
// old offset.
TEST_CASE("a lane that ends at rest with everything committed commits nothing more") {
  const bool at_rest = GENERATE(true, false);
  WatchedLane test;
  test.handler.open();
  test.partition.add_run(0, 2);
  test.begin();
  test.serve_commits();
  REQUIRE(test.until_outstanding(0));
  if (at_rest) CHECK(test.commit_marker() == LifeMarker{1, {}, 0});
  test.lane->begin_drain(test.now, test.now + seconds(1));
  REQUIRE(test.until_drained());
  CHECK(test.lane->commit_candidate().has_value() == !at_rest);
}

TEST_CASE("an idle lane leaves no trace of its life, and keeps the earlier trace") {
  WatchedLane test;
  test.context.process = 2;
  test.begin(5, GENERATE("", "lives=1 by=1 "));
  test.work();
  CHECK_FALSE(test.lane->wants_commit());
  CHECK_FALSE(test.lane->commit_candidate());
  test.lane->begin_drain(test.now, test.now + seconds(1));
  CHECK_FALSE(test.lane->commit_candidate());
}

TEST_CASE("a process that lost the partition twice at one offset and survived is not careful") {
  std::string metadata;
  for (int i = 0; i < 5; ++i) {
    const CapturedLog log;
    WatchedLane test;
    test.context.process = 7;
    test.partition.add_run(5, 7);
    test.begin(5, metadata);
    test.work();
    CHECK(log.lines({"careful mode begins"}) == 0);
    const auto candidate = test.lane->commit_candidate();
    REQUIRE(candidate);
    metadata = candidate->metadata;
    test.lane->committed(*candidate);
    REQUIRE(test.until_started({5, 6}));
    test.lane->cancel();  // the partition is lost
    (void)test.lane->revoke(test.now);
  }
}

TEST_CASE("a false alarm ends after a few commits, and meanwhile at most a group runs") {
  WatchedLane test;
  test.stage().settings.queue = 300;
  test.context.lanes.max_incomplete = 10000;
  test.handler.open();
  test.partition.add_run(0, 2000);
  test.partition.high_watermark = 2000;
  test.begin(0, "lives=2 by=1 by=2 ");
  const CapturedLog log;
  std::uint32_t commits = 0;
  const auto relaxed = [&] { return log.lines({"careful mode ends"}) > 0; };
  REQUIRE(test.until([&] {
    if (test.lane->wants_commit()) ++commits, (void)test.commit_marker();
    return relaxed();
  }));
  CHECK(commits <= CrashWatch::careful_groups + 1);
  REQUIRE(test.until([&] {
    (void)test.commit_marker();
    return test.lane->stats().committed.offset.get() == 2000;
  }));
}

TEST_CASE("no record begins before the life is committed, however the last life ended") {
  const auto [start, left_behind, lives] = GENERATE(table<std::int64_t, std::string, std::uint32_t>(
      {{kafka::no_offset, "", 1}, {0, "", 1}, {0, "lives=1 ", 2}}));
  WatchedLane test;
  test.partition.add_run(0, 2);
  test.begin(start, left_behind);
  test.work();
  test.pass(milliseconds(100));
  CHECK(test.handler.started().empty());
  const auto detail = test.lane->detail(test.now);
  CHECK(detail.held_by == "waits for its first commit");
  REQUIRE(detail.hold_reasons.size() == 1);
  CHECK(detail.hold_reasons[0].code == "pool_full");
  REQUIRE(test.lane->wants_commit());
  CHECK(test.commit_marker().lives == lives);
  REQUIRE(test.until_started({0, 1}));
}

TEST_CASE("a lane that drains before its first commit finishes its records") {
  WatchedLane test;
  test.no_breaker.note_service_time(milliseconds(1));
  test.handler.open();
  test.partition.add_run(0, 2);
  test.begin(kafka::no_offset);
  test.work();
  REQUIRE(test.handler.started().empty());
  test.lane->begin_drain(test.now, test.now + seconds(10));
  REQUIRE(test.until_drained());
  CHECK(test.commit() == 2);
}

TEST_CASE("if commits are refused, records begin after a while") {
  WatchedLane test;
  test.partition.add_run(0, 1);
  test.begin(0, GENERATE("lives=1 ", "lives=2 "));
  test.work();
  CHECK(test.handler.started().empty());
  test.pass(seconds(3));
  REQUIRE(test.until_started({0}));
}

TEST_CASE("a careful lane runs one record at a time, and commits its offset before") {
  WatchedLane test;
  test.partition.add_run(0, 3);
  test.partition.high_watermark = 4;  // more records will come
  test.begin(0, "lives=2 ");
  for (std::int64_t offset = 0; offset < 3; ++offset) {
    test.work();
    CHECK(test.handler.started() == offsets(0, offset));
    REQUIRE(test.lane->wants_commit());
    CHECK(test.commit_marker() == LifeMarker{3, offset, 0});
    REQUIRE(test.until_started(offsets(0, offset + 1)));
    test.pass(seconds(1));
    CHECK_FALSE(test.lane->wants_commit());
    CHECK(test.handler.started() == offsets(0, offset + 1));
    test.handler.answer(offset);
    REQUIRE(test.until_outstanding(0));
  }
  CHECK(test.commit() == 3);
}

TEST_CASE("a lane stops being careful when no record is left, and when a handler hangs") {
  const bool hangs = GENERATE(false, true);
  WatchedLane test;
  test.partition.add_run(0, 1);
  test.partition.high_watermark = 1;
  test.begin(0, "lives=2 ");
  test.serve_commits();
  REQUIRE(test.until_started({0}));
  if (hangs) {
    test.handler.ignore_stops();
    test.pass(test.handler.job_timeout + seconds(10));
  } else {
    test.handler.answer(0);
    REQUIRE(test.until_outstanding(0));
    test.pass(milliseconds(100));
  }
  CHECK(test.commit_marker() == LifeMarker{1, {}, 0});
  test.partition.add_run(1, 4);
  REQUIRE(test.until_started({0, 1, 2, 3}));
}

TEST_CASE("a record that ran alone in too many deaths becomes a dead letter without an attempt") {
  WatchedLane test;
  test.handler.open();
  test.partition.add_run(0, 4);
  test.begin(0, "lives=4 suspect=2 deaths=1 ");
  REQUIRE(test.until([&] {
    test.serve_commits();
    return test.commit_offset() == 4;
  }));
  CHECK(test.handler.started() == Offsets{0, 1, 3});
  const auto letters = test.topic.letters();
  REQUIRE(letters.size() == 1);
  CHECK(letters.front().first == 2);
  CHECK(letters.front().second.given_up == delivery::DeadLetterReason::crashed);
  CHECK(letters.front().second.reason.find("ended 3 times") != std::string::npos);
}

TEST_CASE("without a dead-letter topic, a record that ran alone in too many deaths is retried") {
  WatchedLane test;
  test.context.forward = nullptr;
  test.partition.add_run(2, 3);
  test.begin(2, "lives=4 suspect=2 deaths=1 ");
  test.serve_commits();
  REQUIRE(test.until_started({2}));
}

TEST_CASE("a careful lane that drains gives back unstarted records, and commits its suspicion") {
  WatchedLane test;
  test.partition.add_run(0, 3);
  test.begin(0, "lives=2 ");
  test.work();
  test.lane->begin_drain(test.now, test.now + seconds(1));
  REQUIRE(test.until_drained());
  const auto last = test.lane->commit_candidate();
  REQUIRE(last);
  CHECK(last->metadata == "lives=2 ");
  CHECK(test.handler.started().empty());
}

TEST_CASE("only one of two careful lanes runs a record") {
  TwoCarefulLanes lanes;
  auto& one = lanes.one;
  auto& other = lanes.other;
  one.serve_commits();
  other.serve_commits();
  REQUIRE(one.until_started({0}));
  CHECK(other.handler.started().empty());
  other.pass(milliseconds(50));
  CHECK_FALSE(other.lane->wants_commit());
  (void)one.lane->revoke(one.now);  // the turn goes with the partition
  other.pass(milliseconds(50));
  other.serve_commits();
  REQUIRE(other.until_started({0}));
}

TEST_CASE("a careful lane that drains before its record begins leaves its turn to the other lanes") {
  TwoCarefulLanes lanes;
  auto& one = lanes.one;
  auto& other = lanes.other;
  one.work();
  REQUIRE(one.lane->wants_commit());
  other.work();
  REQUIRE_FALSE(other.lane->wants_commit());
  one.lane->begin_drain(one.now, one.now + seconds(20));
  other.pass(milliseconds(50));
  other.serve_commits();
  CHECK(other.until_started({0}));
}

TEST_CASE("a record that kills ends the process only a few times, at any place") {
  REQUIRE(rc::check("crash loops end", [] {
    const auto records = *rc::gen::inRange<std::int64_t>(1, 40);
    const auto killer = *rc::gen::inRange<std::int64_t>(0, records);
    const auto order = *rc::gen::element(config::Order::none, config::Order::partition);
    kafka::CommittedOffset committed{{"orders", 3}, 0, {}};
    Offsets dead;
    int deaths = 0;
    for (bool died = true; died;) {
      WatchedLane life;
      life.context.lanes.order = order;
      life.partition.add_run(committed.offset, records);
      for (auto offset = committed.offset; offset < records; ++offset)
        if (offset != killer) life.handler.answer(offset);
      life.begin(committed.offset, committed.metadata);
      died = false;
      const auto begun_at = committed.offset;
      const bool over = life.until([&] {
        const auto started = life.handler.started();
        died = std::find(started.begin(), started.end(), killer) != started.end();
        // The broker receives each commit, except the one that a death interrupts.
        const auto candidate = died ? std::nullopt : life.lane->commit_candidate();
        if (candidate) committed = *candidate, (void)life.lane->committed(*candidate);
        return died || committed.offset == records;
      });
      RC_ASSERT(over);
      if (died && committed.offset == begun_at) ++deaths;  // a death with progress is no loop
      RC_ASSERT(deaths <= 4);
      for (const auto offset : life.topic.offsets()) dead.push_back(offset);
    }
    RC_ASSERT(dead == Offsets{killer});
  }));
}
