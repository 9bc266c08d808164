// When a lane holds, pauses and goes on.
#include "catch.h"
#include "lane/support.h"

using namespace laneway;
using namespace laneway::lane;

namespace {

/// Records are done at once until the pool has learnt how fast they are: on a busy machine some of the first
/// take long. Returns the number of records.
std::int64_t learn_fast_records(TestLane& test) {
  std::int64_t done = 0;
  REQUIRE(test.until([&] {
    if (test.lane->stats().outcomes[0].get() < static_cast<std::uint64_t>(done)) return false;
    const auto service_time = test.lane->pool().snapshot().service_time;
    if (service_time > Duration::zero() && service_time < milliseconds(10)) return true;
    for (int i = 0; i < 20; ++i, ++done) {
      test.handler.answer(done);
      test.partition.add(done);
    }
    return false;
  }));
  return done;
}

/// The lane is held, and pauses after a second; six of 20 records are fetched.
void hold_with_fetched_records(TestLane& test) {
  test.stage().settings.workers = 1;
  test.stage().settings.queue = 2;
  test.context.lanes.pause_after = seconds(1);
  test.partition.add_run(0, 20);
  test.partition.fetched_up_to = 6;
  test.begin();
  test.work();
}

}  // namespace

TEST_CASE("rejected records are kept in order, and the lane is held") {
  TestLane test;
  test.stage().settings.workers = 1;
  test.stage().settings.queue = 2;
  test.partition.add_run(0, 10);
  test.begin();
  test.work();
  CHECK(test.lane->state() == State::held);
  CHECK(test.lane->stats().submissions.rejections.get() == 1);
  CHECK(test.partition.next == 4);  // two runs of two, of which the pool took three records
  REQUIRE(test.until_started({0}));
  for (std::int64_t offset = 0; offset < 10; ++offset) test.handler.answer(offset);
  REQUIRE(test.until([&] { return test.commit_offset() == 10; }));
  CHECK(test.handler.started() == offsets(0, 10));
  CHECK(test.lane->state() == State::running);
}

TEST_CASE("a held lane takes nothing, however much is fetched") {
  TestLane test;
  test.stage().settings.workers = 1;
  test.stage().settings.queue = 2;
  test.partition.add_run(0, 100);
  test.begin();
  test.work();
  for (int i = 0; i < 20; ++i) test.pass(milliseconds(10));
  CHECK(test.partition.next == 4);
  CHECK(test.lane->stats().holds.get() == 1);
}

TEST_CASE("a held lane is signalled when half of the queue is free, and not before") {
  TestLane test;
  test.stage().settings.workers = 1;
  test.stage().settings.queue = 4;
  test.partition.add_run(0, 20);
  test.begin();
  test.work();
  REQUIRE(test.lane->state() == State::held);
  const auto outstanding = [&] {
    const auto pool = test.lane->pool().snapshot();
    return pool.queued + pool.in_flight;
  };
  const auto wait_for = [&](auto condition) {
    const auto deadline = Deadline::in(patience);
    while (!condition() && !deadline.passed()) std::this_thread::yield();
    return condition();
  };
  REQUIRE(outstanding() == 5);
  test.handler.answer(0);
  REQUIRE(wait_for([&] { return outstanding() == 4; }));
  CHECK(test.signals == 0);
  test.handler.answer(1);
  CHECK(wait_for([&] { return test.signals == 1; }));
}

TEST_CASE("a long hold becomes a pause, which free room ends by a seek to the last record") {
  TestLane test;
  hold_with_fetched_records(test);
  test.pass(milliseconds(999));
  CHECK(test.lane->state() == State::held);
  CHECK(test.partition.calls.empty());
  test.pass(milliseconds(1));
  CHECK(test.lane->state() == State::paused);
  CHECK(test.partition.calls == std::vector<std::string>{"pause"});
  CHECK(test.partition.next == 6);  // all fetched records, so that the pause discards nothing
  test.handler.open();
  REQUIRE(test.until([&] { return test.commit_offset() == 6; }));
  test.pass(milliseconds(50));
  CHECK(test.partition.calls == std::vector<std::string>{"pause", "resume at 5"});
  REQUIRE(test.until([&] { return test.commit_offset() == 20; }));
  CHECK(test.handler.started() == offsets(0, 20));
  CHECK(test.lane->stats().pauses.get() == 1);
}

TEST_CASE("no pause follows if a hold ends while the lane takes the fetched records") {
  TestLane test;
  hold_with_fetched_records(test);
  REQUIRE(test.lane->state() == State::held);
  test.partition.on_pop = [&] {
    test.handler.open();
    REQUIRE(eventually([&] { return test.lane->pool().drained(); }));
  };
  test.pass(seconds(1));
  CHECK(test.partition.calls.empty());
  test.partition.fetched_up_to = Partition::everything;
  REQUIRE(test.until([&] { return test.commit_offset() == 20; }));
  CHECK(test.lane->stats().pauses.get() == 0);
}

TEST_CASE("a pause lasts while no record has finished, because the service time is unknown") {
  TestLane test;
  test.stage().settings.workers = 1;
  test.stage().settings.queue = 2;
  test.partition.add_run(0, 20);
  test.begin();
  test.work();
  for (int i = 0; i < 100; ++i) test.pass(milliseconds(50));
  CHECK(test.lane->state() == State::paused);
  CHECK(test.partition.calls == std::vector<std::string>{"pause"});
}

TEST_CASE("a pause lasts while the remaining work takes longer than the next fetch") {
  TestLane test;
  test.stage().settings.workers = 2;
  test.stage().settings.queue = 2;
  test.partition.add_run(0, 20);
  test.partition.fetched_up_to = 10;
  test.begin();
  REQUIRE(test.until_started({0, 1}));
  std::this_thread::sleep_for(milliseconds(300));  // the least that a record takes
  test.handler.answer(0);
  REQUIRE(test.until_started({0, 1, 2}));
  test.pass(seconds(1));
  REQUIRE(test.lane->state() == State::paused);
  for (int i = 0; i < 50; ++i) test.pass(milliseconds(50));
  CHECK(test.lane->state() == State::paused);
  test.handler.open();
  REQUIRE(test.until([&] { return test.commit_offset() == 10; }));
  test.pass(milliseconds(50));
  CHECK(test.partition.calls == std::vector<std::string>{"pause", "resume at 9"});
}

TEST_CASE("fetching resumes early enough for the next record to come before the work ends") {
  TestLane test;
  test.stage().settings.workers = 2;
  test.stage().settings.queue = 2;
  test.begin();
  const auto next = learn_fast_records(test);
  test.partition.add_run(next, next + 20);
  test.partition.fetched_up_to = static_cast<std::size_t>(next) + 10;
  REQUIRE(test.until([&] { return test.lane->state() == State::held; }));
  test.pass(seconds(1));
  REQUIRE(test.lane->state() == State::paused);
  test.pass(milliseconds(1));
  CHECK(test.lane->state() == State::held);  // the rest is still running
  CHECK(test.partition.calls == std::vector<std::string>{"pause", "resume at " + std::to_string(next + 9)});
}

TEST_CASE("an oldest record that does not end holds its lane at max_incomplete") {
  TestLane test;
  test.context.lanes.max_incomplete = 8;
  test.partition.add_run(0, 50);
  test.begin();
  for (std::int64_t offset = 1; offset < 50; ++offset) test.handler.answer(offset);
  REQUIRE(test.until_started(offsets(0, 8)));
  REQUIRE(test.until_outstanding(1));
  CHECK(test.lane->state() == State::held);
  CHECK(test.partition.next == 8);
  CHECK(test.commit_offset() == 0);  // the map of the commit holds the other seven
  test.handler.answer(0);
  REQUIRE(test.until([&] { return test.commit_offset() == 50; }));
}

TEST_CASE("finished records signal the loop while the lane is held at max_incomplete") {
  TestLane test;
  test.context.lanes.max_incomplete = 2;
  test.partition.add_run(0, 4);
  test.begin();
  REQUIRE(test.until_started({0, 1}));
  REQUIRE(test.lane->state() == State::held);
  test.handler.answer(0);
  const auto deadline = Deadline::in(patience);
  while (test.signals == 0 && !deadline.passed()) std::this_thread::yield();
  CHECK(test.signals > 0);
}

TEST_CASE("retry.max_waiting records that wait for their next attempt hold the lane") {
  TestLane test;
  test.stage().settings.workers = 1;
  test.stage().settings.queue = 1;
  test.context.retry.max_waiting = 3;
  test.context.retry.backoff = seconds(10);
  test.partition.add_run(0, 50);
  for (std::int64_t offset = 0; offset < 50; ++offset)
    test.handler.answer(offset, handler::Outcome::retry("again"));
  test.begin();
  REQUIRE(test.until([&] {
    return test.lane->pool().drained() && test.lane->detail(test.now).held_by == "retry.max_waiting reached";
  }));
  test.pass(milliseconds(1));
  CHECK(test.lane->stats().waiting_retries.get() >= 3);
  CHECK(test.lane->stats().waiting_retries.get() <= 5);  // and the records that were in the pool meanwhile
  CHECK(test.partition.next <= 5);
  test.handler.open();
  for (int i = 0; i < 20 && test.partition.next < 50; ++i) {
    test.pass(seconds(61));
    REQUIRE(test.until_outstanding(0));
  }
  CHECK(test.partition.next == 50);
}

TEST_CASE("records that a hold left in the buffer are taken when the hold's time ends, without a signal") {
  const bool pauses = GENERATE(false, true);
  TestLane test;
  test.stage().settings.workers = 1;
  test.stage().settings.queue = 2;
  test.context.lanes.pause_after = pauses ? Duration::zero() : Duration(std::chrono::hours(1));
  test.partition.add_run(0, 8);
  test.partition.high_watermark = 8;
  test.begin();
  test.work();
  test.lane->tick(test.now);
  REQUIRE(test.lane->state() == (pauses ? State::paused : State::held));
  test.handler.open();
  const auto deadline = Deadline::in(patience);
  while (test.handler.started().size() < 8 && !deadline.passed()) {
    test.now += milliseconds(50);
    test.lane->tick(test.now);
    std::this_thread::sleep_for(milliseconds(1));
  }
  CHECK(test.sorted(test.handler.started()) == offsets(0, 8));
}
