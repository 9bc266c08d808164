#include "delivery/limit/concurrency_limit.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "catch.h"
#include "delivery/limit/followed.h"

using namespace laneway;
using namespace laneway::delivery;
using namespace laneway::delivery::test;

namespace {

constexpr LimitBounds wide{2, 400};

/// The rate and the 99th percentile of the latency, as shares of the best fixed limit's and of the server's
/// without a queue.
struct Shares {
  double rate;
  double p99;
};

Shares shares_of(Seen seen, const ServerModel& model, std::uint32_t capacity) {
  QueueingServer best(model, capacity, capacity);
  best.run(seconds(1));
  auto fixed = best.run(seen.time);
  return {seen.rate() / fixed.rate(), seen.percentile(0.99) / fixed.percentile(0.99)};
}

struct Steps {
  std::array<std::uint32_t, 3> capacities{100, 20, 200};
  Duration settling = seconds(20);
  Duration measured = seconds(40);
};

void check_targets(LimitKind kind, const ServerModel& model, const Steps& steps = {}) {
  Followed followed(kind, model, steps.capacities[0], wide);
  for (const auto capacity : steps.capacities) {
    followed.server.set_capacity(capacity);
    followed.server.run(steps.settling);
    const auto shares = shares_of(followed.server.run(steps.measured), model, capacity);
    INFO("capacity " << capacity << ", limit " << followed.limit.limit() << ", p99 " << shares.p99);
    CHECK(shares.rate >= 0.9);
    CHECK(shares.p99 <= 1.5);
  }
}

/// An aimd limit, and the next change of it if so many of each hundred calls are dropped.
struct Dropping {
  ConcurrencyLimit limit{LimitKind::aimd, {40, 100}};
  TimePoint now = TimePoint{} + seconds(1);

  Dropping() { limit.change({2, 100}, TimePoint{}); }
  std::optional<LimitChange> window(std::uint32_t dropped) {
    return limit.ended({.worked = 100 - dropped,
                        .latency = milliseconds(50),
                        .unavailable = dropped,
                        .in_flight = limit.limit()},
                       now += milliseconds(200));
  }
  LimitChange change(std::uint32_t dropped) {
    for (;;)
      if (const auto next = window(dropped)) return *next;
  }
  LimitChange trial() {
    auto next = change(10);
    while (next.reason == LimitReason::success) next = change(10);
    return next;
  }
};

}  // namespace

TEST_CASE("concurrency limit: vegas and gradient follow a server that queues") {
  const auto kind = GENERATE(LimitKind::vegas, LimitKind::gradient);
  SECTION("calls of about 50 ms") { check_targets(kind, {}); }
  SECTION("calls of 35 to 65 ms") { check_targets(kind, {.times = Times::varying}); }
  SECTION("calls of any length") { check_targets(kind, {.times = Times::exponential}); }
  SECTION("calls of 5 ms") { check_targets(kind, {.service = milliseconds(5), .times = Times::varying}); }
  SECTION("calls of 300 ms") { check_targets(kind, {.service = milliseconds(300), .times = Times::varying}); }
}

TEST_CASE("concurrency limit: handlers of microseconds get the limit that they need") {
  const auto kind = GENERATE(LimitKind::vegas, LimitKind::gradient);
  const Steps steps{.capacities = {40, 20, 80}, .settling = seconds(4), .measured = seconds(2)};
  check_targets(kind, {.service = microseconds(90), .times = Times::varying}, steps);
}

TEST_CASE("concurrency limit: each algorithm follows a server that refuses excess calls") {
  const auto kind = GENERATE(LimitKind::aimd, LimitKind::vegas, LimitKind::gradient);
  const auto overload = GENERATE(Overload::refuses_503, Overload::refuses_429);
  check_targets(kind, {.times = Times::varying, .overload = overload});
}

TEST_CASE("concurrency limit: aimd notices a queue only when calls time out") {
  const ServerModel model{.times = Times::varying, .timeout = milliseconds(500)};
  Followed followed(LimitKind::aimd, model, 20, wide);
  followed.server.run(seconds(60));
  const auto shares = shares_of(followed.server.run(seconds(60)), model, 20);
  CHECK(followed.limit.limit() < 220);  // ten times the capacity: a queue of 450 ms
  CHECK(shares.p99 > 3);
  CHECK(shares.p99 < 10);
}

TEST_CASE("concurrency limit: a downstream that becomes slower as a whole keeps its calls") {
  const auto kind = GENERATE(LimitKind::vegas, LimitKind::gradient);
  ServerModel model{.times = Times::varying};
  Followed followed(kind, model, 100, wide);
  followed.server.run(seconds(20));
  model.service = milliseconds(150);
  followed.server.set_service(model.service);
  followed.server.run(seconds(20));
  CHECK(shares_of(followed.server.run(seconds(40)), model, 100).rate >= 0.9);
}

TEST_CASE("concurrency limit: the limit does not drift upwards in an hour") {
  const auto kind = GENERATE(LimitKind::vegas, LimitKind::gradient);
  Followed followed(kind, {.times = Times::varying}, 20, wide);
  followed.server.run(std::chrono::hours(1));
  CHECK(followed.limit.limit() <= 30);
  CHECK(followed.limit.base() < 0.06);
}

TEST_CASE("concurrency limit: an unused limit does not rise") {
  const auto kind = GENERATE(LimitKind::aimd, LimitKind::vegas, LimitKind::gradient);
  Followed followed(kind, {}, 100, wide);
  followed.server.set_demand(10);
  followed.server.run(seconds(60));
  CHECK(followed.limit.limit() <= 26);  // a rise ends when less than half is in use
}

TEST_CASE("concurrency limit: the limit fits a server so slow that few calls end in a minute") {
  const auto service = GENERATE(seconds(8), seconds(15), seconds(90), seconds(300));
  const auto min = GENERATE(1U, 2U);
  SECTION("calls show it by their success") {
    Followed followed(LimitKind::aimd, {.service = service, .timeout = std::chrono::hours(1)}, 64, {min, 64});
    followed.server.run(service * 20 + seconds(120));
    CHECK(followed.limit.limit() > min + 4);
  }
  SECTION("calls show it by their latency") {
    const auto kind = GENERATE(LimitKind::vegas, LimitKind::gradient);
    const auto times = GENERATE(Times::steady, Times::varying);
    const ServerModel model{.service = service, .times = times, .timeout = std::chrono::hours(10)};
    Followed followed(kind, model, 12, {min, 64});
    followed.server.run(service * 200);
    const auto shares = shares_of(followed.server.run(service * 400), model, 12);
    INFO("calls of " << to_seconds(service) << " s, limit " << followed.limit.limit());
    CHECK(shares.rate >= 0.9);
    CHECK(shares.p99 <= 2);  // as with calls of milliseconds: a server of few calls
  }
}

TEST_CASE("concurrency limit: a few calls never change the limit, however long they are observed") {
  ConcurrencyLimit limit(LimitKind::aimd, {2, 64});
  auto now = TimePoint{} + seconds(1);
  for (int i = 0; i < 1000; ++i)
    limit.ended({.worked = 1, .latency = milliseconds(50), .in_flight = 1}, now += seconds(20));
  CHECK(limit.limit() == 2);
  // All in use for a moment, and an hour later again.
  for (int i = 0; i < 10; ++i)
    for (int call = 0; call < 4; ++call)
      limit.ended({.worked = 1, .latency = seconds(1), .in_flight = 2},
                  now += call > 0 ? seconds(1) : seconds(3600));
  CHECK(limit.limit() == 2);
}

TEST_CASE("concurrency limit: aimd rises by one at first, and falls by the share of calls that time out") {
  ConcurrencyLimit limit(LimitKind::aimd, {20, 1000});
  limit.change({1, 1000}, TimePoint{});
  auto now = TimePoint{} + seconds(1);
  const auto next_change = [&] {
    std::optional<LimitChange> change;
    for (int i = 0; i < 10000 && !change; ++i) {
      const bool fails = limit.limit() >= 28 && i % 4 == 0;
      change = limit.ended(
          {.worked = !fails, .latency = milliseconds(50), .timeouts = fails, .in_flight = limit.limit()},
          now += milliseconds(50) / limit.limit());
    }
    REQUIRE(change);
    return *change;
  };
  for (std::uint32_t ups = 1; ups <= 8; ++ups) CHECK(next_change().to == 20 + ups);
  const auto trial = next_change();
  CHECK(trial.reason == LimitReason::probe);
  CHECK(trial.to == 14);
  const auto lowered = next_change();
  CHECK(lowered.reason == LimitReason::timeout);
  CHECK(lowered.from == 28);
  CHECK(lowered.to == 28 * 3 / 4);
}

TEST_CASE("concurrency limit: a rare failure does not keep the limit from rising") {
  ConcurrencyLimit limit(LimitKind::aimd, {50, 100});
  auto now = TimePoint{} + seconds(1);
  for (int i = 0; i < 5000; ++i) {
    now += milliseconds(5);
    const bool fails = i % 100 == 0;
    limit.ended({.worked = !fails, .latency = milliseconds(50), .timeouts = fails, .in_flight = 60}, now);
  }
  CHECK(limit.limit() == 100);
}

TEST_CASE("concurrency limit: a backend that drops its calls lowers the limit only if most backends do") {
  const auto kind = GENERATE(LimitKind::aimd, LimitKind::vegas, LimitKind::gradient);
  const auto parts = GENERATE(1, 2, 6);
  const auto dropping = GENERATE(1, 2, 5);
  if (dropping > parts) return;
  ConcurrencyLimit limit(kind, {1, 100});
  const char names[6] = {};
  auto now = TimePoint{} + seconds(1);
  for (int i = 0; i < 12000; ++i) {
    const int part = i % parts;
    const bool fails = limit.limit() > 10 && part < dropping && i / parts % 2 == 0;
    limit.ended({.worked = !fails,
                 .latency = fails ? milliseconds(500) : milliseconds(50),
                 .timeouts = fails,
                 .in_flight = limit.limit(),
                 .part = names + part},
                now += milliseconds(5));
  }
  INFO(dropping << " of " << parts << " drop calls");
  if (dropping * 2 > parts)
    CHECK(limit.limit() <= 12);
  else
    CHECK(limit.limit() == 100);
}

TEST_CASE("concurrency limit: each change has a reason") {
  ConcurrencyLimit limit(LimitKind::vegas, {10, 100});
  auto now = TimePoint{} + seconds(1);
  // Two equal windows at most: the first change that follows.
  const auto change = [&](EndedCalls calls) {
    auto first = limit.ended(calls, now += seconds(1));
    return first ? *first : limit.ended(calls, now += seconds(1)).value_or(LimitChange{});
  };
  const EndedCalls fine{.worked = 100, .latency = milliseconds(12), .in_flight = 100};
  CHECK(change(fine).words == "calls succeed and the limit is used");
  while (limit.limit() < 100) change(fine);
  change(fine);

  const auto slower = change({.worked = 100, .latency = milliseconds(40), .in_flight = 100});
  CHECK(slower.words == "latency rose from 12 ms to 40 ms");
  CHECK(slower.reason == LimitReason::latency);
  const auto throttled =
      change({.worked = 40, .latency = milliseconds(12), .throttled = 60, .in_flight = 50});
  CHECK(throttled.words == "429 for 120 of 200 calls");
  CHECK(throttled.to == throttled.from / 2);
  CHECK(change({.latency = milliseconds(12), .timeouts = 100}).words ==
        "no answer in time for 200 of 200 calls");
  CHECK(limit.breaker_opened(now)->words == "the breaker opened");
}

TEST_CASE("concurrency limit: the limit returns when fewer calls do not lower the share of dropped calls") {
  ConcurrencyLimit limit(LimitKind::vegas, {40, 100});
  limit.change({2, 100}, TimePoint{});
  auto now = TimePoint{} + seconds(1);
  std::vector<LimitChange> changes;
  const EndedCalls some_fail{.worked = 90, .latency = milliseconds(50), .unavailable = 10, .in_flight = 100};
  for (int i = 0; i < 200; ++i)
    if (const auto change = limit.ended(some_fail, now += milliseconds(200))) changes.push_back(*change);
  const auto trial = std::find_if(changes.begin(), changes.end(),
                                  [](const LimitChange& one) { return one.reason == LimitReason::probe; });
  REQUIRE(changes.end() - trial >= 2);
  CHECK(trial->to == trial->from / 2);
  const auto& back = *(trial + 1);
  CHECK(back.reason == LimitReason::persistent);
  CHECK(back.to == trial->from);
  CHECK(back.words == "10 % of the calls fail, however few are made at once");
  CHECK(limit.limit() == 100);
}

TEST_CASE("concurrency limit: the limit returns when a trial fell between two bursts of dropped calls") {
  Dropping calls;
  const auto trial = calls.trial();
  CHECK(trial.reason == LimitReason::probe);
  auto next = calls.change(0);
  CHECK(next.reason == LimitReason::unavailable);
  while (next.reason == LimitReason::unavailable) next = calls.change(10);
  CHECK(next.from <= trial.to);
  CHECK(next.to == trial.from);
  CHECK(next.words == "10 % of the calls fail, however few are made at once");
}

TEST_CASE("concurrency limit: new bounds hold for the limit to which a trial returns") {
  Dropping calls;
  const auto trial = calls.trial();
  REQUIRE(trial.reason == LimitReason::probe);
  REQUIRE(trial.from > 30);
  calls.limit.change({2, 30}, calls.now);
  const auto next = calls.change(0);
  CHECK(next.reason == LimitReason::unavailable);
  CHECK(next.from == 30);
}

TEST_CASE("concurrency limit: a trial ends when new bounds leave no lower limit to try") {
  Dropping calls;
  REQUIRE(calls.trial().reason == LimitReason::probe);
  calls.limit.change({2, 10}, calls.now);
  REQUIRE(calls.limit.limit() == 10);
  for (int i = 0; i < 50; ++i) calls.window(0);
  CHECK(calls.limit.limit() == 10);
}

TEST_CASE("concurrency limit: what a trial found is forgotten ten minutes after a quiet night") {
  Dropping calls;
  REQUIRE(calls.trial().reason == LimitReason::probe);
  calls.now += std::chrono::hours(8);
  CHECK(calls.change(0).reason == LimitReason::unavailable);
  for (const auto until = calls.now + seconds(601); calls.now < until;) calls.window(0);
  CHECK(calls.trial().reason == LimitReason::probe);
}

TEST_CASE("concurrency limit: calls that take no time by the clock leave the limit free to rise") {
  for (const auto kind : {LimitKind::aimd, LimitKind::vegas, LimitKind::gradient}) {
    ConcurrencyLimit limit(kind, {4, 64});
    auto now = TimePoint{} + seconds(1);
    for (int i = 0; i < 100; ++i) limit.ended({.worked = 200, .in_flight = 64}, now += milliseconds(200));
    CHECK(limit.limit() == 64);
  }
}

TEST_CASE("concurrency limit: an opening breaker ends a trial") {
  ConcurrencyLimit limit(LimitKind::aimd, {40, 100});
  limit.change({1, 100}, TimePoint{});
  auto now = TimePoint{} + seconds(1);
  const EndedCalls some_fail{.worked = 90, .latency = milliseconds(50), .unavailable = 10, .in_flight = 40};
  while (limit.limit() > 20) limit.ended(some_fail, now += milliseconds(200));
  CHECK(limit.breaker_opened(now)->to == 10);
  for (int i = 0; i < 2; ++i)
    limit.ended({.worked = 300, .latency = milliseconds(50), .in_flight = 10}, now += seconds(1));
  CHECK(limit.limit() == 11);  // and not what it was before the trial
}

TEST_CASE("concurrency limit: dropped calls from before a change lower the limit once") {
  ConcurrencyLimit limit(LimitKind::aimd, {100, 1000});
  limit.change({1, 1000}, TimePoint{} + seconds(1));
  const EndedCalls late{.latency = seconds(5), .timeouts = 20, .in_flight = 100};
  auto now = TimePoint{} + seconds(1);
  for (int i = 0; i < 90; ++i) limit.ended(late, now += milliseconds(100));
  CHECK(limit.limit() == 50);
}

TEST_CASE("concurrency limit: the limit stays within its bounds") {
  ConcurrencyLimit limit(LimitKind::vegas, {4, 8});
  auto now = TimePoint{} + seconds(1);
  CHECK(limit.limit() == 4);
  for (int i = 0; i < 50; ++i)
    limit.ended({.worked = 20, .latency = milliseconds(1), .in_flight = 8}, now += milliseconds(200));
  CHECK(limit.limit() == 8);
  CHECK(limit.change({2, 6}, now)->to == 6);
  for (int i = 0; i < 5; ++i) limit.breaker_opened(now);
  CHECK(limit.limit() == 2);
}
