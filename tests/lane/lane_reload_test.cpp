// Settings that change while a lane works.
#include "lane/support.h"

using namespace laneway;
using namespace laneway::lane;

namespace {

std::uint32_t outstanding(const TestLane& test) {
  const auto pool = test.lane->pool().snapshot();
  return pool.queued + pool.in_flight;
}

}  // namespace

TEST_CASE("with more workers and a longer queue, a held lane passes on N + Q records at once, in order") {
  TestLane test;
  test.stage().settings.workers = 1;
  test.stage().settings.queue = 2;
  test.partition.add_run(0, 100);
  test.begin();
  REQUIRE(test.until_started({0}));
  REQUIRE(test.lane->state() == State::held);
  test.stage().settings.workers = 5;
  test.stage().settings.queue = 10;
  test.lane->follow_settings(test.now);
  CHECK(test.until_outstanding(15));
  CHECK(test.until_started(offsets(0, 5)));
  test.handler.open();
  REQUIRE(test.until([&] { return test.commit_offset() == 100; }));
  CHECK(test.handler.started().size() == 100);
}

TEST_CASE("with fewer workers running records finish, then only N + Q are taken, and none is lost") {
  TestLane test;
  test.stage().settings.workers = 8;
  test.stage().settings.queue = 30;
  test.partition.add_run(0, 200);
  test.begin();
  REQUIRE(test.until_started(offsets(0, 8)));
  REQUIRE(test.until_outstanding(38));
  test.stage().settings.workers = 2;
  test.stage().settings.queue = 3;
  test.lane->follow_settings(test.now);
  CHECK(outstanding(test) == 38);
  for (std::int64_t offset = 0; offset < 35; ++offset) test.handler.answer(offset);
  REQUIRE(test.until([&] { return test.commit_offset() == 35; }));
  CHECK(test.until_outstanding(5));
  CHECK(test.until([&] { return test.lane->pool().snapshot().in_flight == 2; }));
  CHECK(test.lane->state() == State::held);
  test.handler.open();
  REQUIRE(test.until([&] { return test.commit_offset() == 200; }));
  CHECK(TestLane::sorted(test.handler.started()) == offsets(0, 200));
}

TEST_CASE("a rate limit appears, changes and ends while the lane runs") {
  TestLane test;
  test.stage().settings.queue = 1000;
  test.handler.open();
  test.partition.add_run(0, 500);
  test.partition.fetched_up_to = 50;
  test.begin();
  REQUIRE(test.until([&] { return test.commit_offset() == 50; }));
  test.context.lanes.rate = {10, 0, seconds(1)};
  test.lane->follow_settings(test.now);
  test.partition.fetched_up_to = Partition::everything;
  test.pass(milliseconds(50));
  REQUIRE(test.until_outstanding(0));
  CHECK(test.commit() == 60);
  CHECK(test.lane->state() == State::held);
  test.context.lanes.rate = {100, 0, seconds(1)};
  test.lane->follow_settings(test.now);
  REQUIRE(test.until_outstanding(0));
  CHECK(test.commit() == -1);  // the available room was used up; a change gives no extra room
  test.pass(milliseconds(500));
  REQUIRE(test.until_outstanding(0));
  CHECK(test.commit() == 110);
  test.context.lanes.rate = {};
  test.lane->follow_settings(test.now);
  REQUIRE(test.until([&] { return test.commit_offset() == 500; }));
}

TEST_CASE("a rate limit of the process appears while the lanes run") {
  RateLimiter rate({});
  TestLane test;
  test.context.rate = test.stage().rate = &rate;
  test.handler.open();
  test.partition.add_run(0, 100);
  test.partition.fetched_up_to = 30;
  test.begin();
  REQUIRE(test.until([&] { return test.commit_offset() == 30; }));
  rate.change({5, 0, seconds(1)}, test.now);
  test.partition.fetched_up_to = Partition::everything;
  test.pass(milliseconds(50));
  REQUIRE(test.until_outstanding(0));
  CHECK(test.commit() == 35);
}

TEST_CASE("failed records follow the retry settings at the time of their failure") {
  TestLane test;
  test.context.retry.backoff = test.context.retry.max_backoff = std::chrono::hours(1);
  test.partition.add_run(0, 2);
  test.begin();
  test.handler.answer(0, handler::Outcome::retry("again"));
  REQUIRE(
      test.until([&] { return test.lane->detail(test.now).oldest->phase == OldestRecord::Phase::waiting; }));
  test.context.retry.backoff = test.context.retry.max_backoff = milliseconds(100);
  test.lane->follow_settings(test.now);
  test.handler.answer(1, handler::Outcome::retry("again"));
  REQUIRE(test.until_outstanding(0));
  test.pass(milliseconds(150));
  REQUIRE(test.until([&] { return test.handler.attempts(1).size() == 2; }));
  CHECK(test.handler.attempts(0).size() == 1);  // its hour was decided before
  test.handler.open();
}

TEST_CASE("changes of max_incomplete, max_waiting and pause_after take effect at once") {
  TestLane test;
  test.stage().settings.queue = 100;
  test.context.lanes.max_incomplete = 20;
  test.context.lanes.pause_after = std::chrono::hours(1);
  test.partition.add_run(0, 60);
  test.begin();
  REQUIRE(test.until_outstanding(20));
  CHECK(test.lane->state() == State::held);
  test.pass(seconds(10));
  CHECK(test.lane->state() == State::held);
  test.context.lanes.pause_after = seconds(1);
  test.lane->follow_settings(test.now);
  test.pass(milliseconds(1));
  CHECK(test.lane->state() == State::paused);
  test.context.lanes.max_incomplete = 1000;
  test.lane->follow_settings(test.now);
  test.pass(milliseconds(1));
  CHECK(test.until_outstanding(60));
  test.context.lanes.max_incomplete = 5;
  test.lane->follow_settings(test.now);
  CHECK(test.lane->detail(test.now).held_by.find("max_incomplete") != std::string::npos);
  test.handler.open();
  REQUIRE(test.until([&] { return test.commit_offset() == 60; }));
}

TEST_CASE("a breaker is removed and added during calls, and the lane goes on") {
  Downstream downstream("shop", {.breaker = {.failures = 1}});
  TestLane test;
  test.stage().downstream = &downstream;
  test.context.retry.backoff = test.context.retry.max_backoff = milliseconds(10);
  test.partition.add_run(0, 20);
  test.begin();
  // Begun before the breaker opens; otherwise it would come back behind records that occupy all workers.
  REQUIRE(test.until([&] { return test.handler.attempts(1).size() == 1; }));
  test.handler.answer(0, handler::Outcome::unavailable("out"));
  REQUIRE(test.until([&] { return !downstream.closed(); }));
  downstream.change({.breaker = {.failures = 0}}, SteadyClock::now());
  CHECK(downstream.closed());
  test.handler.answer(1, handler::Outcome::unavailable("still out"));
  test.pass(milliseconds(20));
  test.handler.open();
  REQUIRE(test.in_time([&] { return test.commit_offset() == 20; }));
  CHECK(downstream.closed());
  downstream.change({.breaker = {.failures = 1}}, SteadyClock::now());
  const std::string reason = "out again";
  downstream.failed({.reason = reason}, SteadyClock::now());
  CHECK_FALSE(downstream.closed());
}

TEST_CASE("repeated changes of settings lose no record and run none twice") {
  TestLane test;
  test.handler.open();
  test.partition.add_run(0, 3000);
  test.partition.fetched_up_to = 0;
  test.begin();
  for (std::uint32_t i = 0; i < 300; ++i) {
    test.stage().settings.workers = 1 + i * 7 % 13;
    test.stage().settings.queue = i * 5 % 40;
    test.context.lanes.max_incomplete = 20 + i % 50;
    test.partition.fetched_up_to = 10 * (i + 1);
    test.lane->follow_settings(test.now);
    test.pass(milliseconds(50));
  }
  REQUIRE(test.in_time([&] { return test.commit_offset() == 3000; }));
  CHECK(TestLane::sorted(test.handler.started()) == offsets(0, 3000));
}
