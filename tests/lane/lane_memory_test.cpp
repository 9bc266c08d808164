// How much of lanes.memory a lane may take.
#include "catch.h"
#include "lane/support.h"

using namespace laneway;
using namespace laneway::lane;
using handler::Outcome;

namespace {

constexpr std::size_t value = 4096;

/// Room for three records: the third fills it.
void set_small_share(TestLane& test) { test.context.memory.lane_bytes = 2 * (value + record_overhead) + 1; }

std::uint64_t published_bytes(TestLane& test) {
  test.pass(milliseconds(1));
  return test.lane->stats().record_bytes.get();
}

}  // namespace

TEST_CASE("a lane takes records until its share of the memory is full, and goes on when records are done") {
  TestLane test;
  set_small_share(test);
  test.partition.add_run(0, 20, value);
  test.begin();
  REQUIRE(test.until_started({0, 1, 2}));
  CHECK(test.partition.next == 3);
  CHECK(test.lane->state() == State::held);
  test.handler.open();
  REQUIRE(test.until([&] { return test.commit_offset() == 20; }));
  CHECK(published_bytes(test) == 0);
}

TEST_CASE("a lane that pauses takes all fetched records, also beyond its share of the memory") {
  TestLane test;
  set_small_share(test);
  test.context.lanes.pause_after = seconds(1);
  test.partition.add_run(0, 40, value);
  test.partition.fetched_up_to = 12;
  test.begin();
  REQUIRE(test.until_started({0, 1, 2}));
  REQUIRE(test.lane->state() == State::held);
  test.partition.reported_fetched = 9;
  test.pass(seconds(1));
  REQUIRE(test.lane->state() == State::paused);
  CHECK(test.partition.next == 12);
  test.handler.open();
  REQUIRE(test.until([&] { return test.commit_offset() == 12; }));
  test.pass(milliseconds(50));
  CHECK(test.partition.calls == std::vector<std::string>{"pause", "resume at 11"});
  REQUIRE(test.until([&] { return test.commit_offset() == 40; }));
  CHECK(test.sorted(test.handler.started()) == offsets(0, 40));
}

TEST_CASE("a lane that pauses does not wait for records that are fetched meanwhile beyond its share") {
  TestLane test;
  set_small_share(test);
  test.context.lanes.pause_after = seconds(1);
  test.partition.add_run(0, 40, value);
  test.begin();
  REQUIRE(test.until_started({0, 1, 2}));
  test.partition.reported_fetched = 9;  // the other records come while the lane takes these
  test.context.lanes.max_incomplete = 1000;
  test.pass(seconds(1));
  REQUIRE(test.lane->state() == State::paused);
  CHECK(test.partition.next < 40);
}

TEST_CASE("a record larger than the lane's share passes alone") {
  TestLane test;
  set_small_share(test);
  test.partition.add(0, {}, 20 * value);
  test.partition.add(1);
  test.begin();
  REQUIRE(test.until_started({0}));
  CHECK(test.lane->state() == State::held);
  test.handler.answer(0);
  REQUIRE(test.until_started({0, 1}));
}

TEST_CASE("records that wait for their retry count for the lane's share") {
  TestLane test;
  set_small_share(test);
  test.partition.add_run(0, 20, value);
  for (std::int64_t offset = 0; offset < 20; ++offset) test.handler.answer(offset, Outcome::retry("not now"));
  test.begin();
  REQUIRE(test.until([&] { return test.lane->pool().drained() && test.lane->state() == State::held; }));
  CHECK(test.partition.next == 3);
  CHECK(published_bytes(test) == 3 * (value + record_overhead));
  test.handler.open();
  for (int i = 0; i < 40 && test.commit_offset() < 20; ++i) {
    test.pass(seconds(61));
    REQUIRE(test.until_outstanding(0));
  }
  CHECK(test.commit_offset() == 20);
  CHECK(published_bytes(test) == 0);
}

TEST_CASE("records that wait for their key count for the lane's share") {
  for (const auto order : {config::Order::key, config::Order::partition}) {
    TestLane test;
    test.context.memory.lane_bytes = 4 * (value + 1 + record_overhead) + 1;  // the fifth record fills it
    test.context.lanes.order = order;
    test.partition.add(0, "a", value);
    test.partition.add(1, "b", value);
    for (std::int64_t offset = 2; offset < 30; ++offset) test.partition.add(offset, "a", value);
    test.begin();
    test.handler.answer(1);
    REQUIRE(test.until([&] {
      return test.lane->state() == State::held && !test.handler.started().empty() &&
             (order == config::Order::partition || test.lane->stats().outcomes[0].get() == 1);
    }));
    test.work();
    CHECK(test.partition.next == 5);
    const std::uint64_t unfinished = order == config::Order::partition ? 5 : 4;  // of "b" there is none
    CHECK(published_bytes(test) == unfinished * (value + 1 + record_overhead));
    test.handler.open();
    REQUIRE(test.until([&] { return test.commit_offset() == 30; }));
    CHECK(published_bytes(test) == 0);
  }
}
