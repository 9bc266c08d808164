// Rate limits of a lane and of the process.
#include "lane/support.h"

using namespace laneway;
using namespace laneway::lane;

TEST_CASE("a lane takes what its rate allows, holds, and goes on when the time has come") {
  TestLane test;
  test.context.lanes.rate = {10, 0, seconds(1)};
  test.context.lanes.queue = 100;
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
      test.until([&] { return test.commit() == 100 || test.lane->stats().committed_offset.get() == 100; }));
}

TEST_CASE("a lane that waits for its rate asks to be called when the time comes") {
  TestLane test;
  test.context.lanes.rate = {10, 0, milliseconds(100)};
  test.handler.open();
  test.partition.add_run(0, 10);
  test.begin();
  REQUIRE(test.until_outstanding(0));
  CHECK(test.lane->tick(test.now) <= test.now + milliseconds(101));
}

TEST_CASE("bytes are limited as well; one record larger than the burst passes and is waited for after") {
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

TEST_CASE("an attempt that is made again waits for the rate, and goes before new records") {
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
    CHECK(test.handler.started().size() == made);  // due for long, but the rate has no room
    CHECK(test.lane->tick(test.now) <= test.now + milliseconds(101));
    test.pass(milliseconds(101));
    REQUIRE(test.until_outstanding(0));
  }
  CHECK(test.handler.attempts(1).size() == 1);
  CHECK(test.commit() == 2);
}

TEST_CASE("a rate of the process is shared by its lanes") {
  RateLimiter rate({10, 0, seconds(1)});
  TestLane one;
  TestLane two;
  for (auto* test : {&one, &two}) {
    test->context.rate = &rate;
    test->now = one.now;
    test->handler.open();
    test->partition.add_run(0, 100);
    test->begin();
    REQUIRE(test->until_outstanding(0));
  }
  CHECK(one.commit() == 10);
  CHECK(two.commit() == -1);
  two.pass(milliseconds(350));
  REQUIRE(two.until_outstanding(0));
  CHECK(two.commit() == 3);
}
