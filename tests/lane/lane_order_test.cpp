// Order by key and by partition, as the handler sees it.
#include "catch.h"
#include "lane/support.h"

using namespace laneway;
using namespace laneway::lane;
using handler::Outcome;

TEST_CASE("records of a key run one after the other, those of other keys pass") {
  TestLane test;
  test.context.lanes.order = config::Order::key;
  test.partition.add(0, "a");
  test.partition.add(1, "b");
  test.partition.add(2, "a");
  test.partition.add(3, "a");
  test.begin();
  REQUIRE(test.until_started({0, 1}));
  test.handler.answer(1);
  REQUIRE(test.until_outstanding(1));
  CHECK(test.handler.started().size() == 2);
  test.handler.answer(0);
  REQUIRE(test.until_started({0, 1, 2}));
  test.handler.answer_done({2, 3});
  REQUIRE(test.until([&] { return test.commit_offset() == 4; }));
}

TEST_CASE("a failed record's key waits for its retry") {
  TestLane test;
  test.context.lanes.order = config::Order::key;
  test.partition.add(0, "a");
  test.partition.add(1, "a");
  test.partition.add(2, "b");
  test.partition.add(3, "a");
  test.begin();
  test.handler.answer(0, Outcome::retry("not now"));
  test.handler.answer(2);
  REQUIRE(test.until_outstanding(0));
  CHECK(TestLane::sorted(test.handler.started()) == Offsets{0, 2});
  test.pass(seconds(1));
  REQUIRE(test.until_started({0, 0, 2}));
  test.handler.answer(0);
  test.handler.answer(1, Outcome::retry("not now"));  // in the middle of what waited together
  test.handler.answer_done({1, 3});
  REQUIRE(test.until_started({0, 0, 1, 2}));
  REQUIRE(test.until_outstanding(0));
  test.pass(seconds(1));
  REQUIRE(test.until([&] { return test.commit_offset() == 4; }));
  auto started = test.handler.started();
  std::erase(started, 2);
  CHECK(started == Offsets{0, 0, 1, 1, 3});
}

TEST_CASE("records without a key are ordered among each other only where that is asked for") {
  for (const bool ordered : {false, true}) {
    TestLane test;
    test.context.lanes.order = config::Order::key;
    test.context.lanes.null_keys = ordered ? config::NullKeys::ordered : config::NullKeys::unordered;
    test.partition.add_run(0, 3);
    test.begin();
    REQUIRE(test.until_started(ordered ? Offsets{0} : offsets(0, 3)));
    test.handler.open();
    REQUIRE(test.until([&] { return test.commit_offset() == 3; }));
  }
}

TEST_CASE("order by partition runs one record at a time, in order, also across a failure") {
  TestLane test;
  test.context.lanes.order = config::Order::partition;
  test.context.lanes.queue = 4;
  test.partition.add_run(0, 30);
  test.handler.answer(1, Outcome::retry("not now"));
  test.begin();
  REQUIRE(test.until_started({0}));
  for (std::int64_t offset = 0; offset < 30; ++offset) test.handler.answer(offset);
  for (int i = 0; i < 10 && test.commit_offset() < 30; ++i) {
    REQUIRE(test.until_outstanding(0));
    test.pass(seconds(1));
  }
  REQUIRE(test.until([&] { return test.commit_offset() == 30; }));
  auto expected = offsets(0, 30);
  expected.insert(expected.begin() + 1, 1);
  CHECK(test.handler.started() == expected);
}

TEST_CASE("a lane in order holds at max_incomplete however many keys wait, and loses none") {
  TestLane test;
  test.context.lanes.order = config::Order::key;
  test.context.lanes.max_incomplete = 16;
  for (std::int64_t offset = 0; offset < 200; ++offset)
    test.partition.add(offset, std::string(1, char('a' + offset % 3)));
  test.begin();
  REQUIRE(test.until_started({0, 1, 2}));
  CHECK(test.partition.next == 16);
  CHECK(test.lane->state() == State::held);
  test.handler.open();
  REQUIRE(test.until([&] { return test.commit_offset() == 200; }));
  for (const int key : {0, 1, 2}) {
    Offsets of_key = test.handler.started();
    std::erase_if(of_key, [&](auto offset) { return offset % 3 != key; });
    CHECK(of_key == TestLane::sorted(of_key));
  }
}
