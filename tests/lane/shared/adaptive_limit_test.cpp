#include "lane/shared/adaptive_limit.h"

#include "lane/bulkhead/pooled_lane.h"

namespace laneway::lane {
namespace {

using handler::Outcome;

constexpr config::AdaptiveLimit vegas{config::LimitAlgorithm::vegas, 2};

/// A second of calls that ended, ten times.
void end_calls(AdaptiveLimit& limit, delivery::EndedCalls calls, TimePoint& now) {
  for (int i = 0; i < 10; ++i) limit.ended(calls, now += milliseconds(100));
}

TEST_CASE("an adaptive limit begins at min, and a 429 lowers the permits") {
  AdaptiveLimit limit({config::LimitAlgorithm::aimd, 2}, 64);
  CHECK(limit.permits().limit() == 2);
  auto now = SteadyClock::now();
  for (int i = 0; i < 100; ++i) end_calls(limit, {.worked = 100, .latency = milliseconds(5)}, now);
  const auto risen = limit.permits().limit();
  CHECK(risen > 2);
  CHECK(limit.can_fall());
  for (int i = 0; i < 20; ++i)
    end_calls(limit, {.worked = 50, .latency = milliseconds(5), .throttled = 50}, now);
  CHECK(limit.permits().limit() < risen);
  const auto report = limit.report();
  CHECK(report.limit == limit.permits().limit());
  CHECK(report.max == 64);
  CHECK(report.why.find("429") != std::string::npos);
}

TEST_CASE("an opening breaker halves the limit once, and calls of the outage change nothing") {
  AdaptiveLimit limit({config::LimitAlgorithm::aimd, 1}, 64);
  auto now = SteadyClock::now();
  for (int i = 0; i < 100; ++i) end_calls(limit, {.worked = 100, .latency = milliseconds(5)}, now);
  const auto before = limit.permits().limit();
  REQUIRE(before > 2);
  for (int i = 0; i < 5; ++i) limit.ended_in_outage(now += seconds(1));
  CHECK(limit.permits().limit() == before / 2);
  const auto report = limit.report();
  CHECK(report.changes[static_cast<std::size_t>(delivery::LimitReason::breaker)] == 1);
  CHECK(report.from == before);
  CHECK(report.to == before / 2);
}

TEST_CASE("other bounds take effect at once") {
  AdaptiveLimit limit(vegas, 64);
  limit.change({config::LimitAlgorithm::vegas, 8}, 16, SteadyClock::now());
  CHECK(limit.permits().limit() == 8);
  limit.change({config::LimitAlgorithm::vegas, 1}, 4, SteadyClock::now());
  CHECK(limit.permits().limit() == 4);
}

TEST_CASE("a lane takes no more than the limit and its queue, and two lanes share the limit") {
  AdaptiveLimit limit(vegas, 64);
  TestLane first;
  TestLane second;
  for (auto* test : {&first, &second}) {
    test->context.adaptive = &limit;
    test->context.permits = &limit.permits();
    test->context.lanes.workers = 64;
    test->context.lanes.queue = 4;
    test->partition.add_run(0, 100);
    test->begin();
    test->lane->tick(test->now);
  }
  CHECK(first.until([&] { return limit.permits().in_use() == 2; }));
  CHECK(second.until([&] { return second.lane->state() == State::held; }));
  CHECK(first.until([&] { return first.lane->state() == State::held; }));
  CHECK(first.lane->pool().limits().workers == 2);
  CHECK(first.handler.started().size() + second.handler.started().size() <= 2);
  const int signals = first.signals;
  for (int i = 0; i < 10; ++i) first.work();
  CHECK(first.signals <= signals + 1);  // a full pool does not call the loop again and again
  first.handler.open();
  second.handler.open();
  CHECK(first.until([&] {
    second.work();
    first.tick_now();
    second.tick_now();
    return first.commit_offset() == 100 && second.commit_offset() == 100;
  }));
}

TEST_CASE("behind a limit, a record that is refused again and again does not wait longer and longer") {
  AdaptiveLimit limit(vegas, 64);
  TestLane test;
  test.context.adaptive = &limit;
  test.context.permits = &limit.permits();
  test.partition.add(0);
  test.begin();
  for (int i = 0; i < 20; ++i) test.handler.answer(0, throttled());
  test.handler.answer(0);
  const auto begin = test.now;
  REQUIRE(test.until([&] {
    test.pass(milliseconds(100));
    return test.commit_offset() == 1;
  }));
  CHECK(test.handler.attempts(0).size() == 21);
  CHECK(test.now - begin < 20 * seconds(2));  // without the limit, the back-off alone takes six minutes
}

}  // namespace
}  // namespace laneway::lane
