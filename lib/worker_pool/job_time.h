// How long a job takes, as a power of two, and what follows from it: the size of claims, how often times are
// measured, and whether waking one more worker pays. Pure. Threads: any; workers write it rarely, because the
// power changes rarely, so it stays in every reader's cache.
//
// One claim moves the estimate by one power at most: a worker that was not on a processor for a while does
// not make the jobs slow. Jobs that really become slow are found by the watcher (watched_threads.h).
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>

namespace laneway::worker_pool {

class JobTime {
 public:
  static constexpr std::uint32_t most_per_claim = 64;

  void measured(std::int64_t ns_of_claim, std::uint32_t jobs) {
    const auto each = static_cast<std::uint64_t>(std::max<std::int64_t>(ns_of_claim, 1)) / jobs;
    const auto power = power_.load(std::memory_order_relaxed);
    const auto seen = static_cast<std::uint32_t>(std::bit_width(each));
    if (seen > power + 1 || seen + 1 < power) {  // between two powers it stays
      const auto next = seen > power ? power + 1 : power - 1;
      power_.store(std::clamp(next, lowest, highest), std::memory_order_relaxed);
    }
  }

  /// The time that a job takes at most, by the estimate.
  std::int64_t ns() const { return std::int64_t{1} << power_.load(std::memory_order_relaxed); }
  bool fast() const { return ns() <= slow_from; }

  /// As many jobs as take about 16 µs.
  std::uint32_t claim() const {
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(claim_ns / ns(), 1, most_per_claim));
  }
  /// The waiting time of every n-th job is measured, n a power of two: reading the clock costs 25 ns.
  std::uint64_t sampled() const { return ns() >= slow_from / 2 ? 1 : 64; }

  /// Whether `waiting` jobs would keep `awake` workers longer than a wake-up costs. More workers than cores
  /// do not make short jobs faster. One more is allowed, because the system may let two share a core, but not
  /// if jobs are so short that workers hold each other up at the queue.
  bool pays(std::uint64_t waiting, std::uint32_t awake, std::uint32_t cores) const {
    if (waiting == 0) return false;
    if (awake == 0 || !fast()) return true;
    if (awake >= cores + (ns() > shortest_ns ? 1 : 0)) return false;
    return static_cast<std::int64_t>(waiting) * ns() > std::int64_t{awake} * wake_ns;
  }

 private:
  static constexpr std::uint32_t lowest = 5;    // 32 ns
  static constexpr std::uint32_t highest = 40;  // 18 minutes
  static constexpr std::int64_t slow_from = 16384;
  static constexpr std::int64_t claim_ns = 16384;
  static constexpr std::int64_t wake_ns = 20000;
  static constexpr std::int64_t shortest_ns = 512;

  std::atomic<std::uint32_t> power_{20};  // slow until it is measured: each job its own worker
};

}  // namespace laneway::worker_pool
