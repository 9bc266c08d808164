#include "delivery/limit/drop_baseline.h"

#include <random>

#include "catch.h"

using namespace laneway;
using namespace laneway::delivery;

namespace {

struct Source {
  explicit Source(std::uint64_t seed) : random(seed) {}

  DropCount window(std::uint64_t calls, double share) {
    now += milliseconds(100);
    return {.calls = calls,
            .dropped = std::binomial_distribution<std::uint64_t>(calls, share)(random),
            .time = milliseconds(100)};
  }
  /// The answer of a trial.
  bool persists(const DropBaseline& baseline, double share) {
    DropCount calls;
    for (;;) {
      calls.add(window(20, share));
      if (const auto answer = baseline.persists(calls)) return *answer;
    }
  }
  void learn(DropBaseline& baseline, double share) { baseline.learn(window(10'000, share), now); }

  std::mt19937_64 random;
  TimePoint now = TimePoint{} + seconds(1);
};

/// Whether so many windows of these calls exceed the baseline at some time.
bool exceeds(DropBaseline& baseline, Source& source, int windows, std::uint64_t calls, double share) {
  for (int i = 0; i < windows; ++i) {
    baseline.count(source.window(calls, share), source.now);
    if (baseline.exceeded()) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("drop baseline: chance alone hardly ever exceeds it, however few calls a window has") {
  const double share = GENERATE(0.0, 0.04, 0.2);
  const std::uint64_t calls = GENERATE(3, 10, 30, 200);
  int exceeded = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Source source(seed);
    DropBaseline baseline;
    source.learn(baseline, share);
    exceeded += exceeds(baseline, source, 100, calls, share);
  }
  INFO("share " << share << ", windows of " << calls << " calls");
  CHECK(exceeded <= 10);
}

TEST_CASE("drop baseline: three times the share exceeds it, also in windows of ten calls") {
  const double share = GENERATE(0.04, 0.1, 0.2);
  const std::uint64_t calls = GENERATE(10, 100);
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Source source(seed);
    DropBaseline baseline;
    source.learn(baseline, share);
    CHECK(exceeds(baseline, source, static_cast<int>(4000 / calls), calls, 3 * share));
  }
}

TEST_CASE("drop baseline: a trial tells a share that stays from one that is gone, with few mistakes") {
  const double share = GENERATE(0.04, 0.1, 0.3);
  int mistakes = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Source source(seed);
    DropBaseline baseline;
    mistakes += !source.persists(baseline, share);
    mistakes += source.persists(baseline, 0);
    source.learn(baseline, share);
    mistakes += source.persists(baseline, share);  // what was more than the baseline is gone
  }
  INFO(mistakes << " of 600");
  CHECK(mistakes <= 30);
}

TEST_CASE("drop baseline: the baseline falls when less is dropped, and chance does not lower it") {
  Source source(1);
  DropBaseline baseline;
  source.learn(baseline, 0.1);
  const double learned = baseline.share();
  exceeds(baseline, source, 300, 100, 0.1);
  CHECK(baseline.share() == learned);
  exceeds(baseline, source, 450, 100, 0.02);
  CHECK(baseline.share() == Approx(0.02).margin(0.01));
  exceeds(baseline, source, 450, 100, 0);
  CHECK(baseline.share() == 0);
}

TEST_CASE("drop baseline: calls that time out decide after a whole wave of them") {
  const DropBaseline baseline;
  DropCount calls{.calls = 500, .dropped = 100, .time = seconds(3), .timeout = seconds(5)};
  CHECK(baseline.persists(calls) == std::nullopt);
  calls.add({.time = seconds(2)});
  CHECK(baseline.persists(calls) == true);
}

TEST_CASE("drop baseline: the part above it is what a lower limit can prevent") {
  DropBaseline baseline;
  CHECK(baseline.part_above(0.2) == 1);
  baseline.learn({.calls = 1000, .dropped = 50}, TimePoint{});
  CHECK(baseline.part_above(0.2) == Approx(0.75));
  CHECK(baseline.part_above(0.05) == 0);
}
