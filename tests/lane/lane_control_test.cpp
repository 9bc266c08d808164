// What operators ask of a lane: to be suspended, and records to be skipped.
#include "lane/dead_letter_topic.h"
#include "lane/support.h"

using namespace laneway;
using namespace laneway::lane;
using handler::Outcome;

namespace {

struct ControlledLane : TestLane {
  ControlledLane() {
    context.forward = &topic;
    context.suspensions = &suspensions;
    context.retry.attempts = 100;
    stage().settings.queue = 64;
  }
  ~ControlledLane() {
    handler.open();
    lane.reset();
  }
  void pause(bool paused) {
    suspensions.set_here("orders", 3, paused);
    lane->follow_suspensions(now);
  }
  /// Works until the record has failed and waits for its next attempt.
  bool until_waiting(std::int64_t offset) {
    handler.answer(offset, Outcome::retry("HTTP 500"));
    return until([&] {
      const auto oldest = lane->detail(now).oldest;
      return oldest && oldest->offset == offset && oldest->phase == OldestRecord::Phase::waiting;
    });
  }
  Skip skip(std::int64_t offset) { return lane->skip(offset, "bad order", now); }

  Suspensions suspensions;
  DeadLetterTopic topic;
};

}  // namespace

TEST_CASE("a suspended topic has exceptions, also for later partitions") {
  Suspensions suspensions;
  CHECK_FALSE(suspensions.knows_here("orders"));
  CHECK(suspensions.set_here("orders", 3, true));
  CHECK_FALSE(suspensions.set_here("orders", 3, true));
  CHECK(suspensions.suspended_here({"orders", 3}));
  CHECK_FALSE(suspensions.suspended_here({"orders", 4}));
  CHECK_FALSE(suspensions.suspended_here({"others", 3}));
  CHECK(suspensions.set_here("orders", {}, true));
  CHECK(suspensions.set_here("orders", 4, false));
  CHECK(suspensions.suspended_here({"orders", 3}));
  CHECK_FALSE(suspensions.suspended_here({"orders", 4}));
  CHECK(suspensions.set_here("orders", 4, true));
  CHECK(suspensions.suspended_here({"orders", 4}));
  CHECK(suspensions.set_here("orders", {}, false));
  CHECK_FALSE(suspensions.suspended_here({"orders", 3}));
  CHECK_FALSE(suspensions.knows_here("orders"));
}

TEST_CASE("a suspended lane finishes its records, takes nothing, and later goes on at the same place") {
  ControlledLane test;
  test.partition.add_run(0, 2);
  test.begin();
  REQUIRE(test.until_started({0, 1}));
  test.pause(true);
  CHECK(test.lane->state() == State::held);
  CHECK(test.lane->detail(test.now).held_by == "suspended");
  test.partition.add_run(2, 10);
  test.handler.open();
  REQUIRE(test.until([&] { return test.commit_offset() == 2; }));
  for (int i = 0; i < 100; ++i) test.pass(milliseconds(50));
  CHECK(test.lane->state() == State::paused);
  CHECK(test.partition.next == 2);  // other fetched records stay where they are
  CHECK(test.partition.calls == std::vector<std::string>{"pause"});
  CHECK(test.partition.log_questions >= 2);  // in 4 s of a pause: its lag is still known
  test.pause(false);
  test.pass(milliseconds(50));
  CHECK(test.partition.calls == std::vector<std::string>{"pause", "resume at 1"});
  REQUIRE(test.until([&] { return test.commit_offset() == 10; }));
  CHECK(test.lane->stats().hold_bits.get() == 0);
}

TEST_CASE("a lane that is assigned during a suspension takes nothing") {
  ControlledLane test;
  test.suspensions.set_here("orders", {}, true);
  test.partition.add_run(0, 5);
  test.begin();
  for (int i = 0; i < 5; ++i) test.pass(seconds(1));
  CHECK(test.partition.next == 0);
  CHECK(test.lane->state() == State::paused);
  test.handler.open();
  test.pause(false);
  test.pass(milliseconds(50));
  CHECK(test.until([&] { return test.commit_offset() == 5; }));
}

TEST_CASE("neither the log nor the counters show a suspension as a hold or pause") {
  CapturedLog log;
  ControlledLane test;
  test.begin();
  test.pause(true);
  for (int i = 0; i < 5; ++i) test.pass(seconds(1));
  REQUIRE(test.lane->state() == State::paused);
  test.pause(false);
  test.pass(seconds(1));
  REQUIRE(test.lane->state() == State::running);
  CHECK(test.lane->stats().holds.get() == 0);
  CHECK(test.lane->stats().pauses.get() == 0);
  CHECK(test.lane->stats().held_ns.get() == 0);
  CHECK(test.lane->stats().paused_ns.get() == 0);
  CHECK(log.lines({"lane suspended"}) == 1);
  CHECK(log.lines({"lane no longer suspended"}) == 1);
  CHECK(log.lines({"lane paused"}) == 0);
  CHECK(log.lines({"lane resumed"}) == 0);
}

TEST_CASE("a suspended lane drains") {
  ControlledLane test;
  test.partition.add_run(0, 2);
  test.begin();
  REQUIRE(test.until_started({0, 1}));
  test.pause(true);
  test.handler.open();
  test.lane->begin_drain(test.now, test.now + seconds(10));
  REQUIRE(test.until_drained());
  CHECK(test.commit_offset() == 2);
}

TEST_CASE("a suspension does not end the lane's own hold, nor the other way round") {
  ControlledLane test;
  test.stage().settings.workers = 1;
  test.stage().settings.queue = 2;
  test.partition.add_run(0, 20);
  test.begin();
  test.work();
  REQUIRE(test.lane->state() == State::held);
  test.pause(true);
  test.pause(false);
  CHECK(test.lane->state() == State::held);
  test.pause(true);
  test.handler.open();
  REQUIRE(test.until([&] { return test.commit_offset() == 4; }));
  CHECK(test.lane->state() == State::held);
}

TEST_CASE("a skipped record that waits for its next attempt becomes a dead letter with the reason") {
  ControlledLane test;
  test.partition.add_run(0, 3);
  test.begin();
  test.handler.answer_done({1, 2});
  REQUIRE(test.until_waiting(0));
  const auto oldest = test.lane->detail(test.now).oldest;
  CHECK(oldest->attempt == 1);
  CHECK(oldest->failed_attempt == 1);
  CHECK(oldest->error == "HTTP 500");
  CHECK(test.skip(0) == Skip::on_its_way);
  REQUIRE(test.until([&] { return test.commit_offset() == 3; }));
  REQUIRE(test.topic.letters().size() == 1);
  const auto [offset, history] = test.topic.letters().front();
  CHECK(offset == 0);
  CHECK(history.given_up == delivery::DeadLetterReason::skipped);
  CHECK(history.reason == "skipped by an operator: bad order (last error: HTTP 500)");
  CHECK(test.handler.attempts(0) == std::vector<std::uint32_t>{1});
  CHECK(test.topic.attempts() == std::vector<std::uint32_t>{1});
  CHECK_FALSE(test.lane->detail(test.now).oldest);
}

TEST_CASE("a skipped record that is running is given up if its attempt fails, and done if it succeeds") {
  for (const bool fails : {true, false}) {
    ControlledLane test;
    test.partition.add_run(0, 1);
    test.begin();
    REQUIRE(test.until_started({0}));
    CHECK(test.lane->detail(test.now).oldest->phase == OldestRecord::Phase::running);
    CHECK(test.skip(0) == Skip::when_it_fails);
    test.handler.answer(0, fails ? Outcome::retry("HTTP 500") : Outcome::done());
    REQUIRE(test.until([&] { return test.commit_offset() == 1; }));
    CHECK(test.topic.offsets() == (fails ? Offsets{0} : Offsets{}));
    if (fails)
      CHECK(test.topic.letters().front().second.reason ==
            "skipped by an operator: bad order (last error: HTTP 500)");
  }
}

TEST_CASE("a record that waits for the end of an outage can be skipped") {
  Downstream downstream("shop", {.breaker = {.failures = 1}});
  ControlledLane test;
  test.stage().downstream = &downstream;
  test.partition.add_run(0, 1);
  test.begin();
  test.handler.answer(0, Outcome::unavailable("refused"));
  REQUIRE(
      test.until([&] { return test.lane->detail(test.now).oldest->phase == OldestRecord::Phase::waiting; }));
  CHECK(test.skip(0) == Skip::on_its_way);
  CHECK(test.until([&] { return test.commit_offset() == 1; }));
}

TEST_CASE("in order, skipping the first record lets the next one end a false outage") {
  Downstream downstream("test", {.breaker = {1, seconds(30), Duration::zero()}});
  ControlledLane test;
  test.stage().downstream = &downstream;
  test.context.lanes.order = config::Order::partition;
  for (int i = 0; i < 1000; ++i) test.handler.answer(0, handler::Outcome::retry("HTTP 500"));
  test.partition.add_run(0, 10);
  test.begin();
  test.handler.answer_done(offsets(1, 10));
  REQUIRE(test.in_time([&] { return test.handler.attempts(0).size() > 3; }));
  CHECK_FALSE(downstream.closed());
  REQUIRE(test.in_time([&] { return test.skip(0) != Skip::not_waiting; }));
  REQUIRE(test.in_time([&] { return test.commit_offset() == 10; }));
  CHECK(test.topic.offsets() == Offsets{0});
}

TEST_CASE("after a skip, the next record of the key runs") {
  ControlledLane test;
  test.context.lanes.order = config::Order::key;
  test.partition.add(0, "a");
  test.partition.add(1, "a");
  test.begin();
  REQUIRE(test.until_waiting(0));
  test.handler.answer(1);
  CHECK(test.skip(0) == Skip::on_its_way);
  REQUIRE(test.until([&] { return test.commit_offset() == 2; }));
  CHECK(test.topic.offsets() == Offsets{0});
}

TEST_CASE("a skip that is impossible is refused and changes nothing") {
  ControlledLane test;
  test.partition.add_run(0, 2);
  test.partition.add(5);
  test.begin();
  test.handler.answer(0);
  REQUIRE(test.until_waiting(1));
  CHECK(test.skip(0) == Skip::not_waiting);
  CHECK(test.skip(3) == Skip::not_waiting);  // a gap
  CHECK(test.skip(6) == Skip::not_taken);
  test.topic.fail(1000000);
  CHECK(test.skip(1) == Skip::on_its_way);
  REQUIRE(test.until([&] {
    test.pass(milliseconds(1));
    return test.lane->stats().waiting_retries.get() == 1;
  }));
  CHECK(test.skip(1) == Skip::already_given_up);
  CHECK(test.commit_offset() == 1);
  test.lane->begin_drain(test.now, test.now + seconds(10));
  CHECK(test.skip(5) == Skip::leaving);
}

TEST_CASE("without a dead-letter topic no record is skipped") {
  ControlledLane test;
  test.context.forward = nullptr;
  test.partition.add_run(0, 1);
  test.begin();
  REQUIRE(test.until_waiting(0));
  CHECK(test.skip(0) == Skip::no_dead_letters);
  CHECK(test.lane->stats().waiting_retries.get() <= 1);
  test.handler.answer(0);
  CHECK(test.in_time([&] { return test.commit_offset() == 1; }));
}
