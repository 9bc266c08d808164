// When the oldest unfinished record of a lane has held back the others for too long, on a ledger alone.
#include "lane/attempts/oldest_watch.h"

#include "captured_log.h"
#include "catch.h"

using namespace laneway;
using namespace laneway::lane;
using delivery::DeadLetterReason;

namespace {

/// A running lane that has taken eight records, with offsets from 100 on; max_incomplete is eight.
struct AgeingLane {
  explicit AgeingLane(bool delayed = false)
      : watch({lanes, rules, downstream, id, ledger, state, stats}, delayed) {
    lanes.max_incomplete = 8;
    rules.max_age = std::chrono::minutes(10);
    state.start(now);
    ledger.append(100, 8);
  }
  std::optional<OldestWatch::Outlived> pass(Duration time, bool works = true) {
    return watch.tick({&waiting, &others}, works, now += time);
  }
  std::optional<DeadLetterReason> outlived() const { return watch.outlived(now); }
  void open_breaker() { downstream.failed({.reason = reason}, now); }
  void fill_window() { state.hold(Hold::window_full, now); }
  /// The record failed when the lane had finished `done_before` records, and waits.
  void fail(Sequence sequence, std::uint64_t done_before, Duration due = {}) {
    handler::Item item;
    item.sequence = sequence;
    item.failures = std::make_unique<handler::FailureHistory>();
    item.failures->done_before = done_before;
    others.push(now + due, std::move(item));
  }
  std::int64_t since() const { return stats.oldest.since_ns.get(); }
  std::int64_t due() const { return stats.oldest.due_ns.get(); }

  const std::string reason = "refused";
  TimePoint now{seconds(1000)};
  config::LaneSettings lanes;
  config::LedgerSettings rules;
  Downstream downstream{"shop", {.breaker = {.failures = 1, .window = seconds(30), .probe = seconds(5)}}};
  LaneId id{{"orders", 3}, 7};
  Ledger ledger{100};
  LaneState state{seconds(1)};
  LaneStats stats;
  WaitingRecords waiting;  // of a line without waiting records
  WaitingRecords others;
  OldestWatch watch;
};

struct AgeingRetryTopic : AgeingLane {
  AgeingRetryTopic() : AgeingLane(true) {}
};

}  // namespace

TEST_CASE_METHOD(AgeingLane, "a record is the oldest from the tick that first sees it so") {
  CHECK(watch.age(0, now) == Duration::zero());
  CHECK_FALSE(pass(seconds(5)));
  CHECK(watch.is_oldest(0));
  CHECK_FALSE(watch.is_oldest(1));
  CHECK(since() == now.time_since_epoch().count());
  CHECK(due() == since());
  const auto began = since();
  CHECK_FALSE(pass(seconds(7)));
  CHECK(watch.age(0, now) == seconds(7));
  CHECK(watch.age(1, now) == Duration::zero());
  CHECK(since() == began);
}

TEST_CASE_METHOD(AgeingLane, "the age begins again with the next record") {
  pass(seconds(1));
  pass(std::chrono::minutes(9));
  ledger.complete(0, 2);
  CHECK_FALSE(pass(std::chrono::minutes(2)));
  CHECK(watch.is_oldest(2));
  CHECK(watch.age(2, now) == Duration::zero());
  CHECK(since() == now.time_since_epoch().count());
}

TEST_CASE_METHOD(AgeingLane, "a lane without unfinished records has no oldest record") {
  pass(seconds(1));
  ledger.complete(0, 8);
  CHECK_FALSE(pass(std::chrono::hours(1)));
  CHECK(since() == 0);
  CHECK(due() == 0);
  CHECK(watch.age(0, now) == Duration::zero());
  CHECK_FALSE(outlived());
}

TEST_CASE_METHOD(AgeingLane, "a record is too old exactly at ledger.max_age, and is new once") {
  CHECK_FALSE(outlived());  // no tick has seen it
  pass(seconds(1));
  CHECK_FALSE(pass(rules.max_age - milliseconds(1)));
  const auto outlived_at_limit = pass(milliseconds(1));
  REQUIRE(outlived_at_limit);
  CHECK(outlived_at_limit->sequence == 0);
  CHECK(outlived_at_limit->why == DeadLetterReason::too_old);
  CHECK(outlived_at_limit->is_new);
  CHECK(outlived() == DeadLetterReason::too_old);
  const auto later = pass(seconds(1));
  REQUIRE(later);
  CHECK_FALSE(later->is_new);
  ledger.complete(0);
  CHECK_FALSE(pass(seconds(1)));
  const auto next = pass(rules.max_age);
  REQUIRE(next);
  CHECK(next->sequence == 1);
  CHECK(next->is_new);
}

TEST_CASE_METHOD(AgeingLane, "a record becomes too old between two ticks") {
  pass(seconds(1));
  now += rules.max_age;
  CHECK(outlived() == DeadLetterReason::too_old);
}

TEST_CASE_METHOD(AgeingLane, "ledger.max_age 0 lets records become as old as they want") {
  rules.max_age = Duration::zero();
  pass(seconds(1));
  CHECK_FALSE(pass(std::chrono::hours(1000)));
}

TEST_CASE_METHOD(AgeingLane, "a new ledger.max_age applies to the record that is the oldest") {
  pass(seconds(1));
  CHECK_FALSE(pass(seconds(60)));
  rules.max_age = seconds(30);
  CHECK(outlived() == DeadLetterReason::too_old);
}

TEST_CASE_METHOD(AgeingLane, "after the log was replaced, a record with the same number begins a new age") {
  pass(seconds(1));
  pass(rules.max_age);
  watch.start_over();
  ledger = Ledger(0);
  ledger.append(0, 8);
  CHECK(watch.age(0, now) == Duration::zero());
  CHECK_FALSE(pass(seconds(1)));
  CHECK(pass(rules.max_age)->is_new);
}

TEST_CASE_METHOD(AgeingLane,
                 "while a downstream is out no record is too old, and the age begins at the end") {
  pass(seconds(1));
  CHECK_FALSE(pass(std::chrono::hours(1), false));
  CHECK_FALSE(pass(rules.max_age - milliseconds(1)));
  CHECK(pass(milliseconds(1)));
}

TEST_CASE_METHOD(AgeingLane, "an outage that begins between two ticks protects the record at once") {
  pass(seconds(1));
  now += rules.max_age;
  REQUIRE(outlived());
  open_breaker();
  CHECK_FALSE(outlived());
  fill_window();
  CHECK_FALSE(outlived());
}

TEST_CASE_METHOD(AgeingLane, "a full window gives up the record that holds it, if records need no order") {
  pass(seconds(1));
  CHECK_FALSE(outlived());
  fill_window();
  const auto outlived_record = pass(milliseconds(1));
  REQUIRE(outlived_record);
  CHECK(outlived_record->why == DeadLetterReason::window_full);
  state.release(Hold::window_full, now);
  CHECK_FALSE(outlived());
}

TEST_CASE_METHOD(AgeingLane, "a record that is too old and fills the window is too old") {
  pass(seconds(1));
  fill_window();
  CHECK(pass(rules.max_age)->why == DeadLetterReason::too_old);
}

TEST_CASE_METHOD(AgeingLane,
                 "in order, a full window gives up a record that half of max_incomplete has passed") {
  lanes.order = GENERATE(config::Order::key, config::Order::partition);
  pass(seconds(1));
  fill_window();
  CHECK_FALSE(outlived());
  ledger.complete(1, 3);
  CHECK_FALSE(outlived());
  ledger.complete(4);
  CHECK(outlived() == DeadLetterReason::window_full);
}

TEST_CASE_METHOD(AgeingLane,
                 "in order, records that finished before the record was the oldest have not passed it") {
  lanes.order = config::Order::key;
  ledger.complete(0, 4);
  ledger.complete(5, 3);
  pass(seconds(1));
  fill_window();
  CHECK_FALSE(outlived());
}

TEST_CASE_METHOD(AgeingLane,
                 "in order, records that finished since the first failure have passed the record") {
  lanes.order = config::Order::key;
  const auto [done_before, passed] = GENERATE(table<std::uint64_t, bool>({{2, true}, {3, false}}));
  fail(4, done_before);
  fail(7, 0);  // the history of another record
  ledger.complete(0, 4);
  ledger.complete(5, 2);
  pass(seconds(1));
  fill_window();
  CHECK(outlived().has_value() == passed);
}

TEST_CASE_METHOD(AgeingLane, "a record that waits for its next attempt is due since it is the oldest") {
  fail(0, 0, seconds(30));
  pass(seconds(1));
  CHECK(due() == since());
}

TEST_CASE_METHOD(AgeingRetryTopic, "a record that waits in a retry topic is due later, and never too old") {
  fail(0, 0, seconds(30));
  fail(1, 0, seconds(60));
  pass(seconds(1));
  CHECK(due() - since() == nanoseconds(seconds(29)).count());
  fill_window();
  CHECK_FALSE(pass(std::chrono::hours(1)));
  CHECK_FALSE(outlived());
}

TEST_CASE_METHOD(AgeingRetryTopic,
                 "a record of a retry topic whose delay is over is due since it is the oldest") {
  fail(0, 0, seconds(30));
  pass(seconds(31));
  CHECK(due() == since());
}

TEST_CASE_METHOD(AgeingLane, "a report names the record, its age, the records behind it and the policy") {
  const CapturedLog log;
  pass(seconds(1));
  pass(seconds(2));
  const OldestRecord record{100, seconds(2), 4, OldestRecord::Phase::waiting, 4, "stuck"};
  watch.report(record, now);
  CHECK(log.lines({"a record holds back the commits", "topic=orders", "partition=3", "offset=100",
                   "age_ms=2000", "records_behind=7", "place=waiting", "attempt=4", "error=stuck",
                   "policy=hold"}) == 1);
  rules.policy = config::LedgerPolicy::dead_letter;
  watch.report(record, now);
  CHECK(log.lines({"a record holds back the commits", "policy=dead_letter"}) == 1);
}
