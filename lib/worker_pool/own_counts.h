// Counts that one thread writes and any thread reads: a plain addition, without a locked instruction. Who
// sees a count sees what its thread did before.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>

#include "laneway/pool_types.hpp"

namespace laneway::worker_pool {

class OwnCount {
 public:
  void add(std::uint64_t n) {
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_release);
  }
  std::uint64_t get() const { return value_.load(std::memory_order_acquire); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

class OwnDurations {
 public:
  static constexpr std::size_t buckets = 34;  // 64 ns … 275 s, and above

  void record(std::int64_t ns, std::uint64_t times) {
    const auto value = static_cast<std::uint64_t>(std::max<std::int64_t>(ns, 0));
    const auto index = value <= 64 ? 0U : static_cast<unsigned>(std::bit_width((value - 1) >> 6));
    counts_[std::min<std::size_t>(index, buckets - 1)].add(times);
    sum_.add(value * times);
  }
  void add_to(DurationCounts& total) const {
    total.counts.resize(buckets);
    for (std::size_t i = 0; i < buckets; ++i) total.counts[i] += counts_[i].get();
    total.sum += std::chrono::nanoseconds(sum_.get());
  }

 private:
  std::array<OwnCount, buckets> counts_;
  OwnCount sum_;
};

}  // namespace laneway::worker_pool
