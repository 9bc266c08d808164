#include "lane/shared/adaptive_limit.h"

#include <optional>

#include "lane/stage/pooled_lane.h"

namespace laneway::lane {
namespace {

using handler::Outcome;

constexpr config::AdaptiveLimitSettings vegas{config::AdaptiveAlgorithm::vegas, 2};

/// A second of calls that ended, ten times.
void end_calls(AdaptiveLimit& limit, delivery::EndedCalls calls, TimePoint& now) {
  for (int i = 0; i < 10; ++i) limit.ended(calls, now += milliseconds(100));
}

TEST_CASE("an adaptive limit begins at min, and a 429 lowers the permits") {
  AdaptiveLimit limit({config::AdaptiveAlgorithm::aimd, 2}, 64);
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

TEST_CASE("an opening breaker halves the limit once, and calls during the outage change nothing") {
  AdaptiveLimit limit({config::AdaptiveAlgorithm::aimd, 1}, 64);
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

TEST_CASE("changed bounds take effect at once") {
  AdaptiveLimit limit(vegas, 64);
  limit.change({config::AdaptiveAlgorithm::vegas, 8}, 16, SteadyClock::now());
  CHECK(limit.permits().limit() == 8);
  limit.change({config::AdaptiveAlgorithm::vegas, 1}, 4, SteadyClock::now());
  CHECK(limit.permits().limit() == 4);
}

TEST_CASE("a lane takes no more than the limit and its queue, and two lanes share the limit") {
  AdaptiveLimit limit(vegas, 64);
  TestLane first;
  TestLane second;
  for (auto* test : {&first, &second}) {
    test->stage().adaptive = &limit;
    test->stage().permits = &limit.permits();
    test->stage().settings.workers = 64;
    test->stage().settings.queue = 4;
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

/// A pool whose subscribers, told apart by their records' keys, share a limit that can fall from 32.
struct SubscribersLane : PooledLane {
  explicit SubscribersLane(handler::Handler& work) {
    each.by = {config::Selector::Kind::key, ""};
    subscribers.emplace(
        "send", DownstreamRules{.breaker = {.failures = 3, .window = seconds(30), .probe = milliseconds(1)}},
        each);
    auto& pool = add_pool("send", work, 64, 64);
    pool.settings.each = each;
    pool.each = &*subscribers;
    pool.adaptive = &limit;
    pool.permits = &limit.permits();
    limit.change({config::AdaptiveAlgorithm::aimd, 1}, 64, now);
  }
  ~SubscribersLane() { lane.reset(); }
  std::uint64_t changes(delivery::LimitReason reason) const {
    return limit.report().changes[static_cast<std::size_t>(reason)];
  }

  config::Each each;
  std::optional<KeyedLimits> subscribers;
  AdaptiveLimit limit{{config::AdaptiveAlgorithm::aimd, 32}, 64};
};

TEST_CASE("a subscriber's outage does not lower the limit of the others") {
  std::atomic<int> done{0};
  std::atomic<int> failed{0};
  ScriptedHandler send([&](const handler::Attempt& attempt) {
    if (attempt.record.key() == "dead") return ++failed, Outcome::unavailable("refused");
    return ++done, Outcome::done();
  });
  SubscribersLane test(send);
  for (const auto offset : offsets(0, 10)) test.partition.add(offset, "dead");
  test.begin();
  const auto dead = test.subscribers->find("dead");
  REQUIRE(test.until([&] { return !dead->downstream.closed(); }));
  for (int i = 0; i < 10; ++i) {
    const int probes = failed;
    REQUIRE(test.until([&] {
      test.pass_since_now(seconds(1));
      return failed > probes;
    }));
    test.partition.add(10 + i, "alive");
    REQUIRE(test.until([&] { return done > i; }));
  }
  CHECK(test.changes(delivery::LimitReason::breaker) == 0);
  CHECK(test.changes(delivery::LimitReason::unavailable) == 0);
  CHECK(test.limit.limit() >= 32);
}

TEST_CASE("a subscriber that answers 429 gets its own pace, and the limit stays") {
  ScriptedHandler send([](const handler::Attempt& attempt) {
    return attempt.record.key() == "busy" ? throttled() : Outcome::done();
  });
  SubscribersLane test(send);
  for (const auto offset : offsets(0, 10)) test.partition.add(offset, "busy");
  for (const auto offset : offsets(10, 20)) test.partition.add(offset, "alive");
  test.begin();
  CHECK(test.until([&] { return test.subscribers->find("busy")->rate.keeps_pace(); }));
  CHECK(!test.subscribers->find("alive")->rate.keeps_pace());
  CHECK(test.until([&] {
    test.pass(milliseconds(100));
    return send.count() >= 100;
  }));
  CHECK(test.changes(delivery::LimitReason::throttled) == 0);
}

TEST_CASE("with a limit, a record that is refused repeatedly does not wait longer each time") {
  AdaptiveLimit limit(vegas, 64);
  TestLane test;
  test.stage().adaptive = &limit;
  test.stage().permits = &limit.permits();
  test.partition.add(0);
  test.begin();
  for (int i = 0; i < 20; ++i) test.handler.answer(0, throttled());
  test.handler.answer(0);
  const auto begin = test.now;
  REQUIRE(test.until([&] {
    REQUIRE(test.until_outstanding(0));  // no time passes while a worker has the record
    test.pass(milliseconds(100));
    return test.commit_offset() == 1;
  }));
  CHECK(test.handler.attempts(0).size() == 21);
  CHECK(test.now - begin < 20 * seconds(2));  // without the limit, the back-off alone takes six minutes
}

}  // namespace
}  // namespace laneway::lane
