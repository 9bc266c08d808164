// Counts of durations in fixed exponential buckets, cheap enough to be filled from hot paths.
//
// Bucket i counts values of at most 2^i µs (1 µs … 134 s) that exceed the previous bucket; the last bucket
// has no bound. Threads: any thread may call everything. A snapshot that is taken during a record() may
// include the value in its bucket and not yet in the sum.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/time.h"

namespace laneway {

class Histogram {
 public:
  static constexpr std::size_t bounded_buckets = 28;
  static constexpr std::size_t buckets = bounded_buckets + 1;

  /// The largest value that bucket `index` < bounded_buckets counts.
  static constexpr Duration upper_bound(std::size_t index) { return microseconds(std::int64_t{1} << index); }

  struct Snapshot {
    std::array<std::uint64_t, buckets> counts{};  ///< per bucket, not cumulative
    Duration sum{};

    void operator+=(const Snapshot& more) {
      for (std::size_t i = 0; i < buckets; ++i) counts[i] += more.counts[i];
      sum += more.sum;
    }
  };

  /// Adds `times` values of `value`; a negative value counts as zero.
  void record(Duration value, std::uint64_t times = 1) {
    const auto ns = static_cast<std::uint64_t>(value.count() > 0 ? value.count() : 0);
    counts_[bucket_of(ns)].fetch_add(times, std::memory_order_relaxed);
    sum_.fetch_add(ns * times, std::memory_order_relaxed);
  }

  Snapshot snapshot() const {
    Snapshot result;
    for (std::size_t i = 0; i < buckets; ++i) result.counts[i] = counts_[i].load(std::memory_order_relaxed);
    result.sum = nanoseconds(static_cast<std::int64_t>(sum_.load(std::memory_order_relaxed)));
    return result;
  }

 private:
  static std::size_t bucket_of(std::uint64_t ns) {
    const std::uint64_t us = (ns + 999) / 1000;  // rounded up: a bound is included in its bucket
    const auto index = us <= 1 ? std::size_t{0} : static_cast<std::size_t>(std::bit_width(us - 1));
    return index < bounded_buckets ? index : bounded_buckets;
  }

  std::array<std::atomic<std::uint64_t>, buckets> counts_{};
  std::atomic<std::uint64_t> sum_{0};  // ns
};

}  // namespace laneway
