// Order by key and by partition, as the handler sees it.
#include <set>

#include "catch.h"
#include "lane/support.h"

using namespace laneway;
using namespace laneway::lane;
using handler::Outcome;

namespace {

std::string key_of(std::int64_t number) { return "key-" + std::to_string(number); }

/// The records of the keys take turns.
void add_keys(Partition& partition, std::int64_t keys, std::int64_t records) {
  for (std::int64_t offset = 0; offset < keys * records; ++offset)
    partition.add(offset, key_of(offset % keys));
}

/// Finishes `rounds` records of every key; in each round one record of every key is running.
void work_side_by_side(TestLane& test, std::int64_t keys, std::int64_t rounds) {
  for (std::int64_t round = 0; round < rounds; ++round) {
    REQUIRE(test.until_started(offsets(0, keys * (round + 1))));
    test.handler.answer_done(offsets(keys * round, keys * (round + 1)));
  }
}

}  // namespace

TEST_CASE("records of a key run one after the other, and records of other keys pass") {
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
  test.handler.answer(1, Outcome::retry("not now"));  // in the middle of the records that waited together
  test.handler.answer_done({1, 3});
  REQUIRE(test.until_started({0, 0, 1, 2}));
  REQUIRE(test.until_outstanding(0));
  test.pass(seconds(1));
  REQUIRE(test.until([&] { return test.commit_offset() == 4; }));
  auto started = test.handler.started();
  std::erase(started, 2);
  CHECK(started == Offsets{0, 0, 1, 1, 3});
}

TEST_CASE("records without a key are ordered among each other only on request") {
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
  test.stage().settings.queue = 4;
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

TEST_CASE("the keys of a backlog run in parallel, as many as there are workers") {
  TestLane test;
  test.context.lanes.order = config::Order::key;
  add_keys(test.partition, 4, 100);
  test.begin();
  work_side_by_side(test, 4, 20);
}

TEST_CASE("with more keys than workers every worker has a record of another key") {
  TestLane test;
  test.context.lanes.order = config::Order::key;
  test.stage().settings.queue = 2;
  add_keys(test.partition, 9, 50);
  test.begin();
  std::set<std::int64_t> at_work;
  for (std::size_t done = 0; done < 200; ++done) {
    REQUIRE(test.until([&] { return test.handler.started().size() == done + 4; }));
    const auto started = test.handler.started();
    for (auto i = done + at_work.size(); i < started.size(); ++i) at_work.insert(started[i]);
    std::set<std::int64_t> keys;
    for (const auto offset : at_work) keys.insert(offset % 9);
    REQUIRE(keys.size() == 4);
    test.handler.answer(*at_work.begin());
    at_work.erase(at_work.begin());
  }
}

TEST_CASE("after an outage the keys of a backlog run in parallel again") {
  TestLane test;
  test.context.lanes.order = config::Order::key;
  add_keys(test.partition, 4, 100);
  test.begin();
  for (int time = 0; time < 20; ++time) {
    REQUIRE(test.until([&] { return test.handler.started().size() == 4U * (time + 1); }));
    for (std::int64_t offset = 0; offset < 4; ++offset)
      test.handler.answer(offset, Outcome::unavailable("refused"));
    REQUIRE(test.until_outstanding(0));
    test.pass(seconds(100));
  }
  CHECK(test.lane->pool().snapshot().service_time == Duration::zero());  // that was no work
  test.handler.answer_done(offsets(0, 4));
  REQUIRE(test.until([&] { return test.handler.started().size() == 4U * 22; }));
  test.handler.answer_done(offsets(4, 8));
  REQUIRE(test.until([&] { return test.handler.started().size() == 4U * 23; }));
}

TEST_CASE("finished records of a key are committed while the next record of the key runs") {
  const auto order = GENERATE(config::Order::key, config::Order::partition);
  TestLane test;
  test.context.lanes.order = order;
  test.stage().settings.queue = 256;
  add_keys(test.partition, 1, 1000);
  test.handler.answer_done(offsets(0, 500));  // fast, so that a worker gets several at a time
  test.begin();
  for (std::int64_t offset = 500; offset < 510; ++offset) {
    REQUIRE(test.until([&] { return test.handler.started() == offsets(0, offset + 1); }));
    test.pass_since_now(seconds(1));  // slow after this
    test.handler.answer(offset);
    REQUIRE(test.until([&] { return test.commit_offset() == offset + 1; }));
  }
}

TEST_CASE("waiting records of a key take no room of the pool from another key") {
  TestLane test;
  test.context.lanes.order = config::Order::key;
  test.partition.add(0, "a");
  test.partition.add(1, "b");
  for (std::int64_t offset = 2; offset < 12; ++offset) test.partition.add(offset, "a");
  for (std::int64_t offset = 12; offset < 40; ++offset) test.partition.add(offset, "b");
  test.begin();
  REQUIRE(test.until_started({0, 1}));
  test.handler.answer(0);
  REQUIRE(test.until_started({0, 1, 2}));
  test.handler.answer(1);
  REQUIRE(test.until([&] { return test.lane->stats().outcomes[0].get() == 2; }));
  test.work();
  const int before = test.signals;
  for (int i = 0; i < 100; ++i) test.work();
  CHECK(test.signals - before < 10);  // with each signal the loop would work on the lane once more
  CHECK(test.until_started({0, 1, 2, 12}));
}
