// The lane's share of the memory bounds what the records of a pool become in the next one.
#include "lane/stage/result_memory.h"

#include "lane/stage/pooled_lane.h"

using namespace laneway;
using namespace laneway::lane;
using handler::Outcome;

namespace {

constexpr std::uint64_t share = 100 << 10;

handler::Outcome parts_of(std::size_t count, std::size_t size, bool keeps_value = false) {
  handler::Parts parts(count);
  for (auto& part : parts) {
    part.value = std::string(size, 'x');
    part.keeps_value = keeps_value;
  }
  for (std::size_t i = 0; i < count; ++i) parts[i].id = std::to_string(i);
  return Outcome::done(std::move(parts));
}

/// A pool that splits records, and one that holds the sub-jobs until it is opened.
struct SplittingLane : PooledLane {
  explicit SplittingLane(ScriptedHandler::Script script) : first(std::move(script)) {
    context.memory.lane_bytes = share;
    add_pool("first", first, 2, 64);
    add_pool("last", handler, 1);
    in_a_chain();
  }
  ~SplittingLane() { lane.reset(); }

  std::uint64_t bytes() {
    pass(milliseconds(1));
    return lane->stats().record_bytes.get();
  }
  /// Waits until nothing more begins in the first pool.
  bool until_held() {
    return until([&] { return lane->state() == State::held && lane->pool().drained() && first.count() > 0; });
  }
  ScriptedHandler first;
};

}  // namespace

TEST_CASE("after the first records, a split makes no more results than the free memory holds") {
  // About 30 kB for each record; the share has room for three.
  SplittingLane test([](const auto&) { return parts_of(20, 1000); });
  const auto order = GENERATE(config::Order::none, config::Order::key, config::Order::partition);
  test.context.lanes.order = order;
  test.partition.add_run(0, 200);
  test.begin();
  REQUIRE(test.until_held());
  CHECK(test.first.count() <= 3);
  CHECK(test.bytes() <= 2 * share);
  const std::string why = "no memory for further results";
  CHECK(test.until([&] { return test.lane->detail(test.now).held_by.starts_with(why); }));
  test.handler.open();
  CHECK(test.until_committed(200));
  CHECK(test.first.count() == 200);
  CHECK(test.bytes() == 0);
}

TEST_CASE("records whose results exceed the lane's share pass one at a time") {
  SplittingLane test([](const auto&) { return parts_of(3, 2 * share); });
  test.partition.add_run(0, 20);
  test.begin();
  REQUIRE(test.until_held());
  CHECK(test.first.count() <= 2);  // as many as there are workers, because nothing was known of the results
  test.handler.open();
  CHECK(test.until_committed(20));
}

TEST_CASE("a sub-job that waits for its retry does not stop pools, although its record fills the memory") {
  ScriptedHandler first([](const auto&) { return parts_of(20, share / 10); });
  ScriptedHandler last([](const auto& attempt) {
    return attempt.part == "0" && attempt.record.offset() == 0 ? Outcome::retry("not yet") : Outcome::done();
  });
  PooledLane test;
  test.context.memory.lane_bytes = share;
  test.context.retry.backoff = test.context.retry.max_backoff = std::chrono::hours(1);
  test.add_pool("first", first);
  test.add_pool("last", last, 1);
  test.in_a_chain();
  test.partition.add_run(0, 20);
  test.begin();
  CHECK(test.until([&] { return last.count() == 20 * 20; }));
}

TEST_CASE("sub-jobs that keep the value of their record share its memory") {
  constexpr std::size_t large = 20 << 10;
  SplittingLane test([](const auto&) { return parts_of(30, 0, true); });
  test.partition.add(0, "key", large);
  test.begin();
  REQUIRE(test.until([&] { return test.first.count() == 1 && test.handler.started().size() == 1; }));
  CHECK(test.bytes() < large + 31 * (record_overhead + 100));
  test.handler.open();
  CHECK(test.until_committed(1));
  CHECK(test.bytes() == 0);
}

TEST_CASE("a kept value reaches the last pool through every split") {
  ScriptedHandler first([](const auto&) { return parts_of(2, 0, true); });
  ScriptedHandler middle([](const auto& attempt) {
    return attempt.part == "0" ? parts_of(2, 0, true) : result("of part " + std::string(attempt.part));
  });
  ScriptedHandler again([](const auto&) { return parts_of(2, 0, true); });
  ScriptedHandler echo([](const auto& attempt) { return result(std::string(*attempt.record.value())); });
  ScriptedHandler last;
  const bool gathers = GENERATE(false, true);
  PooledLane test;
  test.add_pool("first", first);
  test.add_pool("middle", middle);
  test.add_pool("again", again);
  test.add_pool("echo", echo);
  test.add_pool("last", last).settings.gather = gathers;
  test.in_a_chain();
  test.partition.add(0, "key", 3);
  test.begin();
  CHECK(test.until_committed(1));
  const std::string value(3, 'x');
  auto values = last.values();
  std::sort(values.begin(), values.end());
  if (gathers) {
    REQUIRE(values.size() == 1);
    CHECK(values[0].find("\"value\":\"" + value + "\"") != std::string::npos);
    CHECK(values[0].find("\"value\":\"of part 1\"") != std::string::npos);
  } else {
    CHECK(values == std::vector<std::string>{"of part 1", "of part 1", value, value, value, value});
  }
}

TEST_CASE("the results of a gathered record count as memory, and so does the original record") {
  ScriptedHandler first([](const auto&) { return parts_of(2, 10); });
  HeldHandler second;
  ScriptedHandler middle([](const auto& attempt) {
    return attempt.part == "0" ? result(std::string(5000, 'x')) : result("small");
  });
  PooledLane test;
  test.add_pool("first", first);
  test.add_pool("middle", middle);
  test.add_pool("hold", test.handler, 1);
  test.add_pool("last", second).settings.gather = true;
  test.in_a_chain();
  test.partition.add(0, "key", 7000);
  test.begin();
  REQUIRE(test.until([&] { return middle.count() == 2 && test.handler.started().size() == 1; }));
  test.pass(milliseconds(1));
  const auto bytes = test.lane->stats().record_bytes.get();
  CHECK(bytes >= 7000 + 5000);
  CHECK(bytes <= 7000 + 5000 + 8 * record_overhead);
  test.handler.open();
  second.open();
  CHECK(test.until_committed(1));
  test.pass(milliseconds(1));
  CHECK(test.lane->stats().record_bytes.get() == 0);
}

TEST_CASE("the number of results that fit follows the largest recent result") {
  ResultMemory memory;
  CHECK(memory.records(1000, 7) == 7);
  memory.note(0);
  CHECK(memory.records(1000, 7) == ResultMemory::unlimited);
  memory.note(500);
  CHECK(memory.records(1000, 7) == 2);
  CHECK(memory.records(499, 7) == 0);
  memory.note(0);
  CHECK(memory.records(1000, 7) == 2);
  for (int i = 0; i < 1000; ++i) memory.note(10);
  CHECK(memory.records(1000, 7) == 100);
  for (int i = 0; i < 1000; ++i) memory.note(0);
  CHECK(memory.records(1000, 7) == ResultMemory::unlimited);
}
