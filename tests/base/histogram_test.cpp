#include "base/histogram.h"

#include <numeric>

#include "catch.h"

using namespace laneway;

TEST_CASE("a duration is counted in the first bucket whose bound it does not exceed") {
  for (std::size_t i = 0; i < Histogram::bounded_buckets; ++i) {
    Histogram histogram;
    histogram.record(Histogram::upper_bound(i));
    histogram.record(Histogram::upper_bound(i) + nanoseconds(1));
    const auto counts = histogram.snapshot().counts;
    CHECK(counts[i] == 1);
    CHECK(counts[i + 1] == 1);
  }
}

TEST_CASE("durations below and above all bounds are counted in the first and the last bucket") {
  Histogram histogram;
  histogram.record(nanoseconds(-5));
  histogram.record(nanoseconds(0));
  histogram.record(std::chrono::hours(10));
  const auto snapshot = histogram.snapshot();
  CHECK(snapshot.counts.front() == 2);
  CHECK(snapshot.counts.back() == 1);
  CHECK(snapshot.sum == std::chrono::hours(10));
}

TEST_CASE("several equal durations are added at once") {
  Histogram histogram;
  histogram.record(microseconds(3), 256);
  const auto snapshot = histogram.snapshot();
  CHECK(snapshot.counts[2] == 256);
  CHECK(std::accumulate(snapshot.counts.begin(), snapshot.counts.end(), std::uint64_t{0}) == 256);
  CHECK(snapshot.sum == microseconds(768));
}
