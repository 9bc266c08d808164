#include "delivery/limit/latency_counts.h"

#include <cmath>
#include <random>

#include "catch.h"

using namespace laneway::delivery;

TEST_CASE("latency counts: without calls there is no latency") {
  LatencyCounts counts;
  CHECK(counts.quicker().average == 0);
  counts.add(0.05, 3);
  counts.clear();
  CHECK(counts.quicker().average == 0);
}

TEST_CASE("latency counts: the slowest quarter of the calls does not count") {
  LatencyCounts counts;
  counts.add(0.02, 25);
  counts.add(0.04, 50);
  counts.add(5, 25);
  CHECK(counts.quicker().average == Approx((25 * 0.02 + 50 * 0.04) / 75));
  counts.add(5, 1);
  CHECK(counts.quicker().average < 0.2);  // a class counts in parts
}

TEST_CASE("latency counts: a queue delays the quicker calls as well") {
  std::mt19937_64 random(1);
  std::lognormal_distribution<> times(-3, 1);
  LatencyCounts served;
  LatencyCounts queued;
  for (int i = 0; i < 10'000; ++i) {
    const double time = times(random);
    served.add(time, 1);
    queued.add(time + 0.02, 1);
  }
  CHECK(queued.quicker().average - served.quicker().average == Approx(0.02).margin(0.001));
}

TEST_CASE("latency counts: the variation shows by how much the average differs from that of other calls") {
  std::mt19937_64 random(1);
  std::exponential_distribution<> times(20);
  constexpr int samples = 400;
  constexpr int calls = 100;
  double sum = 0;
  double squares = 0;
  double variation = 0;
  for (int i = 0; i < samples; ++i) {
    LatencyCounts counts;
    for (int call = 0; call < calls; ++call) counts.add(times(random), 1);
    const auto quicker = counts.quicker();
    sum += quicker.average / samples;
    squares += quicker.average * quicker.average / samples;
    variation += quicker.variation / samples;
  }
  CHECK(std::sqrt(squares - sum * sum) == Approx(variation * sum / std::sqrt(calls)).epsilon(0.1));
}

TEST_CASE("latency counts: latencies beyond the classes are counted in the last ones") {
  LatencyCounts counts;
  counts.add(1e-9, 1);
  CHECK(counts.quicker().average == Approx(1e-9));
  counts.clear();
  counts.add(1e6, 1);
  CHECK(counts.quicker().average == Approx(1e6));
}
