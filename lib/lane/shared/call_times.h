// How long the calls that worked took, counted by powers of two. Any thread; lock-free. Nothing blocks.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>

#include "base/time.h"

namespace laneway::lane {

class CallTimes {
 public:
  void add(Duration took) {
    const auto us = static_cast<std::uint64_t>(std::max<std::int64_t>(took / microseconds(1), 0));
    const auto place =
        std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(us)), counts_.size() - 1);
    counts_[place].fetch_add(1, std::memory_order_relaxed);
  }
  /// Older calls count half as much from now on. One thread at a time.
  void fade() {
    for (auto& count : counts_)
      count.fetch_sub((count.load(std::memory_order_relaxed) + 1) / 2, std::memory_order_relaxed);
  }
  /// A power of two that at most one of 64 calls exceeds; zero before the first call.
  Duration usual_at_most() const {
    std::uint64_t all = 0;
    for (const auto& count : counts_) all += count.load(std::memory_order_relaxed);
    std::uint64_t longer = 0;
    for (auto place = counts_.size(); place-- > 0;) {
      longer += counts_[place].load(std::memory_order_relaxed);
      if (longer * 64 > all) return microseconds(std::int64_t{1} << place);
    }
    return {};
  }

 private:
  std::array<std::atomic<std::uint64_t>, 40> counts_{};
};

}  // namespace laneway::lane
