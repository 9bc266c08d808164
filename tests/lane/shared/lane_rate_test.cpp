// Rate limits of a lane and of the process.
#include "lane/support.h"

using namespace laneway;
using namespace laneway::lane;

TEST_CASE("a lane takes what its rate allows, holds, and goes on in time") {
  TestLane test;
  test.context.lanes.rate = {10, 0, seconds(1)};
  test.stage().settings.queue = 100;
  test.handler.open();
  test.partition.add_run(0, 100);
  test.begin();
  REQUIRE(test.until_outstanding(0));
  CHECK(test.commit() == 10);
  CHECK(test.lane->state() == State::held);
  test.pass(milliseconds(450));
  REQUIRE(test.until_outstanding(0));
  CHECK(test.commit() == 14);
  for (int i = 0; i < 200; ++i) test.pass(milliseconds(50));
  REQUIRE(
      test.until([&] { return test.commit() == 100 || test.lane->stats().committed.offset.get() == 100; }));
}

TEST_CASE("a lane that waits for its rate keeps the fetched records, unless the wait is long") {
  const bool long_wait = GENERATE(false, true);
  TestLane test;
  test.context.lanes.rate = {0, long_wait ? 10U : 100U, seconds(1)};
  test.handler.open();
  test.partition.add_run(0, 10, 300);  // bytes
  test.begin();
  for (int i = 0; i < 25; ++i) {
    REQUIRE(test.until_outstanding(0));
    test.pass(milliseconds(100));
  }
  CHECK(test.lane->state() == (long_wait ? State::paused : State::held));
  CHECK(test.lane->stats().pauses.get() == (long_wait ? 1 : 0));
}

TEST_CASE("a lane that waits for its rate asks to be called in time") {
  TestLane test;
  test.context.lanes.rate = {10, 0, milliseconds(100)};
  test.handler.open();
  test.partition.add_run(0, 10);
  test.begin();
  REQUIRE(test.until_outstanding(0));
  CHECK(test.lane->tick(test.now) <= test.now + milliseconds(101));
}

TEST_CASE("the rate of bytes is limited, and a record above the burst passes and is waited for afterwards") {
  TestLane test;
  test.context.lanes.rate = {0, 1000, seconds(1)};
  test.handler.open();
  test.partition.add(0, {}, 5000);
  test.partition.add(1, {}, 10);
  test.begin();
  REQUIRE(test.until_outstanding(0));
  CHECK(test.commit() == 1);
  test.pass(seconds(3));
  REQUIRE(test.until_outstanding(0));
  CHECK(test.commit() == -1);
  test.pass(milliseconds(1100));
  REQUIRE(test.until_outstanding(0));
  CHECK(test.commit() == 2);
}

TEST_CASE("a repeated attempt waits for the rate, and goes before new records") {
  TestLane test;
  test.context.lanes.rate = {1, 0, seconds(1)};
  test.context.retry.backoff = test.context.retry.max_backoff = milliseconds(1);
  test.partition.add_run(0, 2);
  test.begin();
  for (int i = 0; i < 3; ++i) test.handler.answer(0, handler::Outcome::retry("again"));
  test.handler.open();
  REQUIRE(test.until_outstanding(0));
  for (std::size_t made = 1; made <= 4; ++made) {
    CHECK(test.handler.attempts(0).size() == made);
    CHECK(test.handler.attempts(1).empty());
    test.pass(milliseconds(900));
    REQUIRE(test.until_outstanding(0));
    CHECK(test.handler.started().size() == made);  // long due, but the rate has no room
    CHECK(test.lane->tick(test.now) <= test.now + milliseconds(101));
    test.pass(milliseconds(101));
    REQUIRE(test.until_outstanding(0));
  }
  CHECK(test.handler.attempts(1).size() == 1);
  CHECK(test.commit() == 2);
}

namespace {

/// Lanes of one process, on one clock, each with more records than it may handle.
struct SharedRate {
  SharedRate(const config::Rate& settings, std::size_t count) : rate(settings) {
    for (std::size_t i = 0; i < count; ++i) {
      auto& test = *lanes.emplace_back(std::make_unique<TestLane>());
      test.context.rate = test.stage().rate = &rate;
      test.stage().settings.queue = 4096;
      test.now = lanes.front()->now;
      test.handler.open();
    }
  }
  void begin(std::int64_t records) {
    for (auto& test : lanes) {
      test->partition.add_run(0, records);
      test->begin();
    }
  }
  /// The number of records that a lane has done so far.
  static std::int64_t done(TestLane& test) {
    (void)test.commit();
    return test.lane->stats().committed.offset.get();
  }
  void pass(Duration time) {
    for (auto& test : lanes) test->pass(time);
    for (auto& test : lanes) REQUIRE(test->until_outstanding(0));
  }

  RateLimiter rate;
  std::vector<std::unique_ptr<TestLane>> lanes;
};

}  // namespace

TEST_CASE("lanes share the rate of their process") {
  SharedRate test({10, 0, seconds(1)}, 2);
  test.begin(100);
  auto& one = *test.lanes[0];
  auto& two = *test.lanes[1];
  for (auto& lane : test.lanes) REQUIRE(lane->until_outstanding(0));
  CHECK(one.commit() == 10);
  CHECK(two.commit() == -1);
  CHECK(two.lane->state() == State::held);
  test.pass(milliseconds(450));
  CHECK(test.done(one) == 12);
  CHECK(test.done(two) == 2);
}

TEST_CASE("lanes with enough records get equal shares of the process's rate") {
  SharedRate test({100, 0, milliseconds(100)}, 4);
  test.begin(2000);
  for (int i = 0; i < 400; ++i) test.pass(milliseconds(50));
  std::int64_t sum = 0;
  for (auto& lane : test.lanes) {
    const auto done = test.done(*lane);
    CHECK(done >= 490);
    CHECK(done <= 515);
    sum += done;
  }
  CHECK(sum >= 1990);
  CHECK(sum <= 2010);
}

TEST_CASE("an idle or blocked lane leaves its share to the others") {
  SharedRate test({100, 0, milliseconds(100)}, 3);
  const int why = GENERATE(0, 1, 2);
  if (why == 1) test.lanes[1]->context.lanes.max_incomplete = 1;
  test.begin(2000);
  if (why == 0) test.lanes[1]->lane->begin_drain(test.lanes[1]->now, test.lanes[1]->now + seconds(1));
  if (why == 2) (void)test.lanes[1]->lane->revoke(test.lanes[1]->now);
  for (int i = 0; i < 200; ++i) {
    test.lanes[0]->pass(milliseconds(50));
    test.lanes[2]->pass(milliseconds(50));
    REQUIRE(test.lanes[0]->until_outstanding(0));
    REQUIRE(test.lanes[2]->until_outstanding(0));
  }
  const auto one = test.done(*test.lanes[0]);
  const auto two = test.done(*test.lanes[2]);
  CHECK(one + two >= 990);
  CHECK(std::abs(one - two) <= 20);
}
