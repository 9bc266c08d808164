// How a lane ends: drain, cancellation, abandoned records.
#include "catch.h"
#include "lane/support.h"

using namespace laneway;
using namespace laneway::lane;
using handler::Outcome;

namespace {

/// Two records running, four queued, two pending, and none finished.
void begin_first(TestLane& test) {
  test.stage().settings.workers = 2;
  test.stage().settings.queue = 4;
  test.partition.add_run(0, 20);
  test.begin();
  REQUIRE(test.until_started({0, 1}));
  REQUIRE(test.partition.next == 8);
}

/// The same in a process that knows that a record takes a moment.
void begin_busy(TestLane& test) {
  test.no_breaker.note_service_time(milliseconds(1));
  begin_first(test);
}

/// The first 100 records of a key were fast, so a worker gets several at a time; the next one is running.
void begin_in_order(TestLane& test, config::Order order) {
  test.context.lanes.order = order;
  test.stage().settings.queue = 256;
  for (std::int64_t offset = 0; offset < 400; ++offset) test.partition.add(offset, "a");
  test.handler.answer_done(offsets(0, 100));
  test.begin();
  REQUIRE(test.until([&] { return test.handler.started().size() == 101; }));
}

/// Leaves its records unanswered once their stop is requested.
class SilentHandler final : public handler::Handler {
 public:
  void handle(handler::Task task) noexcept override {
    ++begun;
    const auto attempt = task.attempt(0);
    (void)attempt.stop.wait_until(SteadyClock::now() + patience);
  }
  std::string name() const override { return "silent"; }
  std::atomic<int> begun{0};
};

}  // namespace

TEST_CASE("a drain finishes the taken records, takes no more, and the commit covers them") {
  TestLane test;
  begin_busy(test);
  test.lane->begin_drain(test.now, test.now + seconds(20));
  CHECK(test.lane->state() == State::draining);
  CHECK_FALSE(test.lane->drained());
  test.handler.open();
  REQUIRE(test.until_drained());
  CHECK(test.partition.next == 8);
  CHECK(TestLane::sorted(test.handler.started()) == offsets(0, 8));
  CHECK(test.commit_offset() == 8);
  CHECK(test.lane->revoke(test.now) == 0);
  CHECK(test.lane->close_pool(Deadline::in(patience)));
}

TEST_CASE("a drain before the first record has finished gives back all unstarted records") {
  const auto order = GENERATE(config::Order::none, config::Order::key, config::Order::partition);
  TestLane test;
  test.context.lanes.order = order;
  for (std::int64_t offset = 0; offset < 14; ++offset) test.partition.add(offset, "a");
  test.begin();
  const auto running = order == config::Order::none ? offsets(0, 4) : Offsets{0};
  REQUIRE(test.until_started(running));
  test.lane->begin_drain(test.now, test.now + seconds(20));
  test.handler.open();
  REQUIRE(test.until_drained());
  CHECK(TestLane::sorted(test.handler.started()) == running);
  CHECK(test.commit_offset() == static_cast<std::int64_t>(running.size()));
}

TEST_CASE("a drain before the first record has finished uses the service time that other lanes measured") {
  const bool fits = GENERATE(true, false);
  TestLane other;
  other.partition.add(0);
  other.handler.open();
  other.begin();
  REQUIRE(other.until([&] { return other.lane->pool().snapshot().service_time > Duration::zero(); }));
  other.tick_now();
  REQUIRE(other.no_breaker.service_time() > Duration::zero());

  TestLane test;
  test.stage().downstream = &other.no_breaker;
  begin_first(test);
  test.lane->begin_drain(test.now, test.now + (fits ? Duration(std::chrono::hours(1)) : nanoseconds(1)));
  test.handler.open();
  REQUIRE(test.until_drained());
  CHECK(TestLane::sorted(test.handler.started()) == (fits ? offsets(0, 8) : Offsets{0, 1}));
  test.lane.reset();  // before its downstream
}

TEST_CASE("a drain before the first record has finished uses the service time of the last assignment") {
  const bool fits = GENERATE(true, false);
  TestLane test;
  test.partition.add(0);
  test.handler.answer(0);
  test.begin();
  REQUIRE(test.until([&] { return test.lane->pool().snapshot().service_time > Duration::zero(); }));
  test.tick_now();
  test.lane->begin_drain(test.now, test.now + seconds(20));
  REQUIRE(test.until_drained());
  REQUIRE(test.commit() == 1);
  CHECK(test.lane->revoke(test.now) == 0);
  test.lane.reset();  // the partition is revoked, and assigned anew

  test.stage().settings.workers = 2;
  test.partition.add_run(1, 5);
  test.begin(1);
  REQUIRE(test.until_started({0, 1, 2}));
  REQUIRE(test.lane->pool().snapshot().service_time == Duration::zero());
  test.lane->begin_drain(test.now, test.now + (fits ? Duration(std::chrono::hours(1)) : nanoseconds(1)));
  test.handler.open();
  REQUIRE(test.until_drained());
  CHECK(TestLane::sorted(test.handler.started()) == (fits ? offsets(0, 5) : offsets(0, 3)));
}

TEST_CASE("a drain that began with a wrong estimate gives back late records once the time is measured") {
  const auto order = GENERATE(config::Order::none, config::Order::partition);
  TestLane test;
  test.stage().settings.workers = 2;
  test.context.lanes.order = order;
  test.no_breaker.note_service_time(milliseconds(1));
  for (std::int64_t offset = 0; offset < 14; ++offset) test.partition.add(offset, "a");
  test.begin();
  const std::int64_t at_once = order == config::Order::none ? 2 : 1;
  REQUIRE(test.until_started(offsets(0, at_once)));
  const auto deadline = test.now + seconds(20);
  test.lane->begin_drain(test.now, deadline);
  std::this_thread::sleep_for(milliseconds(300));  // the least that a record takes
  test.handler.answer(0);
  REQUIRE(test.until_started(offsets(0, at_once + 1)));
  test.pass(deadline - milliseconds(100) - test.now);
  test.handler.open();
  REQUIRE(test.until_drained());
  CHECK(TestLane::sorted(test.handler.started()) == offsets(0, at_once + 1));
  CHECK(test.commit_offset() == at_once + 1);
}

TEST_CASE("every finished record signals the loop during a drain") {
  TestLane test;
  test.partition.add(0);
  test.begin();
  REQUIRE(test.until_started({0}));
  test.lane->begin_drain(test.now, test.now + seconds(20));
  test.handler.answer(0);
  const auto deadline = Deadline::in(patience);
  while (test.signals == 0 && !deadline.passed()) std::this_thread::yield();
  CHECK(test.signals > 0);
}

TEST_CASE("drain_queued: return gives back unstarted records, and the commit stops before them") {
  TestLane test;
  test.context.lanes.drain_queued = config::DrainQueued::give_back;
  begin_busy(test);
  test.lane->begin_drain(test.now, test.now + seconds(20));
  test.handler.open();
  REQUIRE(test.until_drained());
  CHECK(TestLane::sorted(test.handler.started()) == Offsets{0, 1});
  CHECK(test.commit_offset() == 2);
}

TEST_CASE("queued records that cannot finish by the deadline are given back unstarted at once") {
  TestLane test;
  begin_busy(test);
  std::this_thread::sleep_for(milliseconds(300));  // the least that a record takes
  test.handler.answer(0);
  REQUIRE(test.until_started({0, 1, 2}));
  test.lane->begin_drain(test.now, test.now + milliseconds(100));
  test.handler.open();
  REQUIRE(test.until_drained());
  CHECK(TestLane::sorted(test.handler.started()) == Offsets{0, 1, 2});
  CHECK(test.commit_offset() == 3);
}

TEST_CASE("drain_queued: return also begins no more records of a key") {
  const auto order = GENERATE(config::Order::key, config::Order::partition);
  TestLane test;
  test.context.lanes.drain_queued = config::DrainQueued::give_back;
  begin_in_order(test, order);
  test.lane->begin_drain(test.now, test.now + seconds(20));
  test.handler.open();
  REQUIRE(test.until_drained());
  CHECK(test.handler.started() == offsets(0, 101));
  CHECK(test.commit_offset() == 101);
}

TEST_CASE("a cancelled or lost lane begins no more records of a key, whatever the handler answers") {
  const bool lost = GENERATE(false, true);
  TestLane test;
  test.handler.ignore_stops();
  begin_in_order(test, config::Order::partition);
  if (lost) {
    CHECK(test.lane->revoke(test.now) > 0);
  } else {
    test.lane->begin_drain(test.now, test.now + seconds(20));
    test.lane->cancel();
  }
  test.handler.open();
  REQUIRE(test.until([&] { return test.lane->pool().drained(); }));
  CHECK(test.handler.started() == offsets(0, 101));
  CHECK(test.lane->close_pool(Deadline::in(patience)));
}

TEST_CASE("a drain estimates the records of a key one after the other") {
  const auto order = GENERATE(config::Order::key, config::Order::partition);
  TestLane test;
  test.context.lanes.order = order;
  for (std::int64_t offset = 0; offset < 14; ++offset) test.partition.add(offset, "a");
  test.begin();
  REQUIRE(test.until_started({0}));
  std::this_thread::sleep_for(milliseconds(300));  // the least that a record takes
  test.handler.answer(0);
  REQUIRE(test.until_started({0, 1}));
  test.lane->begin_drain(test.now, test.now + seconds(2));
  test.handler.open();
  REQUIRE(test.until_drained());
  CHECK(test.handler.started().size() <= 7);  // the running record, and the records that fit
  CHECK(test.commit_offset() == static_cast<std::int64_t>(test.handler.started().size()));
}

TEST_CASE("a drain waits for no retry: failed records are given back") {
  TestLane test;
  test.partition.add_run(0, 3);
  test.begin();
  test.handler.answer(0, Outcome::retry("not now"));
  REQUIRE(test.until_outstanding(2));
  test.lane->begin_drain(test.now, test.now + seconds(20));
  test.handler.answer(1, Outcome::retry("not now"));
  test.handler.answer(2);
  REQUIRE(test.until_drained());
  test.now += seconds(100);
  test.lane->tick(test.now);
  CHECK(test.lane->drained());
  CHECK(test.handler.started().size() == 3);
  const auto candidate = test.lane->commit_candidate();
  REQUIRE(candidate);
  CHECK(candidate->offset == 0);
  CHECK(StoredCommit::read(*candidate).map.contains(2));
  CHECK(test.lane->revoke(test.now) == 0);  // nothing was cut off
}

TEST_CASE("a drain keeps the order of a key whose record fails") {
  TestLane test;
  test.no_breaker.note_service_time(milliseconds(1));
  test.context.lanes.order = config::Order::key;
  for (std::int64_t offset = 0; offset < 3; ++offset) test.partition.add(offset, "a");
  test.begin();
  REQUIRE(test.until_started({0}));
  test.lane->begin_drain(test.now, test.now + seconds(20));
  test.handler.answer(0, Outcome::retry("not now"));
  REQUIRE(test.until_drained());
  CHECK(test.handler.started() == Offsets{0});
  const auto commit = test.lane->commit_candidate();
  REQUIRE(commit);
  CHECK(commit->offset == 0);
  CHECK(commit->metadata == "failed=0 ");  // the next owner knows
}

TEST_CASE("a drain finishes the records that wait for their key") {
  TestLane test;
  test.no_breaker.note_service_time(milliseconds(1));
  test.context.lanes.order = config::Order::key;
  for (std::int64_t offset = 0; offset < 3; ++offset) test.partition.add(offset, "a");
  test.begin();
  REQUIRE(test.until_started({0}));
  test.lane->begin_drain(test.now, test.now + seconds(20));
  test.handler.open();
  REQUIRE(test.until_drained());
  CHECK(test.handler.started() == offsets(0, 3));
  CHECK(test.commit_offset() == 3);
}

TEST_CASE("a cancellation stops the running records, and each is logged as abandoned") {
  CapturedLog log;
  TestLane test;
  test.partition.headers = {{"traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"}};
  ProcessTotals totals;
  test.context.totals = &totals;
  begin_busy(test);
  test.lane->begin_drain(test.now, test.now + seconds(20));
  test.lane->cancel();
  REQUIRE(test.until_drained());
  CHECK(test.handler.started().size() == 2);
  CHECK(test.lane->revoke(test.now) == 2);
  CHECK(log.lines({"abandoned", "topic=orders", "partition=3", "offset=0"}) == 1);
  CHECK(log.lines({"abandoned", "topic=orders", "partition=3", "offset=1"}) == 1);
  CHECK(log.lines({"msg=abandoned", "trace_id=4bf92f3577b34da6a3ce929d0e0e4736"}) == 2);
  CHECK(totals.abandoned.get() == 2);
  CHECK(test.commit_offset() == -1);
}

TEST_CASE("a handler that ignores its stop is abandoned, and its later answers change nothing") {
  CapturedLog log;
  TestLane test;
  test.handler.ignore_stops();
  begin_busy(test);
  test.lane->begin_drain(test.now, test.now + seconds(20));
  test.handler.answer(1);
  REQUIRE(test.until([&] { return test.handler.started().size() == 3; }));
  test.lane->cancel();
  test.work();
  CHECK_FALSE(test.lane->drained());
  const auto candidate = test.lane->commit_candidate();
  REQUIRE(candidate);
  CHECK(candidate->offset == 0);
  CHECK(test.lane->revoke(test.now) == 2);
  CHECK(log.lines({"msg=abandoned"}) == 2);
  CHECK(log.lines({"abandoned", "offset=0"}) == 1);
  CHECK(log.lines({"abandoned", "offset=2"}) == 1);
  CHECK_FALSE(test.lane->close_pool(Deadline::in(milliseconds(1))));
  const auto answered = test.lane->stats().outcomes[0].get();
  test.handler.open();
  REQUIRE(test.lane->close_pool(Deadline::in(patience)));
  CHECK(test.lane->stats().outcomes[0].get() == answered + 2);
  test.work();
  test.lane->tick(test.now + seconds(1));
  CHECK(test.lane->take_completed() == 1);
  CHECK(test.lane->commit_candidate()->metadata == candidate->metadata);
  CHECK(test.lane->commit_candidate()->offset == 0);
}

TEST_CASE("records that a stopped handler leaves unanswered do not begin again") {
  TestLane test;
  SilentHandler silent;
  test.stage().handler = &silent;
  test.stage().settings.workers = 1;
  test.partition.add(0);
  test.begin();
  REQUIRE(test.until([&] { return silent.begun == 1; }));
  test.lane->begin_drain(test.now, test.now + seconds(20));
  test.lane->cancel();
  REQUIRE(test.until_drained());
  CHECK(silent.begun == 1);
  test.lane.reset();  // before its handler
}

TEST_CASE("a lost lane ends at once: no record starts, and running records are abandoned") {
  TestLane test;
  test.handler.ignore_stops();
  begin_busy(test);
  CHECK(test.lane->revoke(test.now) == 2);
  CHECK(test.lane->state() == State::revoked);
  test.handler.open();
  REQUIRE(test.lane->close_pool(Deadline::in(patience)));
  CHECK(test.handler.started().size() == 2);
  CHECK(test.lane->revoke(test.now) == 0);
  CHECK_FALSE(test.lane->work(test.now));
}

TEST_CASE("a paused lane can be drained") {
  TestLane test;
  begin_busy(test);
  test.pass(seconds(1));
  REQUIRE(test.lane->state() == State::paused);
  test.lane->begin_drain(test.now, test.now + seconds(20));
  test.handler.open();
  REQUIRE(test.until_drained());
  CHECK(test.commit_offset() == static_cast<std::int64_t>(test.partition.next));
  CHECK(test.partition.calls == std::vector<std::string>{"pause"});
}
