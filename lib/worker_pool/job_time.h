// The time that one job takes, measured from finished claims, and what follows from it: the size of claims,
// and whether waking one more worker pays. Pure; of both pools, this one and the lane's (lib/pool).
//
// An exponentially weighted moving average of the mean time of a job in each claim, with weight 1/8 (as TCP
// smooths its round trips, RFC 6298): one preempted claim hardly changes the average, and a change of the
// work changes it within a few claims. Threads: any; a sample of two workers at once may be lost.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>

#include "base/time.h"

namespace laneway::worker_pool {

class JobTime {
 public:
  /// `wake_up` is the time from waking a thread until it runs on another core, with some margin. `steady`: a
  /// claim that is within half of the average changes nothing, so that the average stays in the caches of
  /// many readers, and a worker that was not on a processor for a while doubles it at most.
  JobTime(Duration wake_up, bool steady) : wake_up_(wake_up), steady_(steady) {}

  /// Records that `jobs` jobs, one after the other, took `total`.
  void record(Duration total, std::uint32_t jobs) {
    const double sample = std::max(static_cast<double>(total.count()), 1.0) / jobs, before = ns();
    if (steady_ && std::abs(sample - before) < before / 2) return;
    const double next = before > 0 ? before + (sample - before) / 8 : sample;
    average_.store(steady_ && before > 0 ? std::min(next, 2 * before) : next, std::memory_order_relaxed);
  }
  /// Forgets the average, which has proved wrong, and starts cautiously again.
  void forget() { average_.store(0, std::memory_order_relaxed); }

  bool known() const { return ns() > 0; }
  /// Rounded up to a nanosecond; zero if not known.
  Duration average() const {
    return known() ? nanoseconds(static_cast<std::int64_t>(ns()) + 1) : Duration::zero();
  }
  /// Whether a job is known to take `time` or less.
  bool within(Duration time) const { return known() && ns() <= static_cast<double>(time.count()); }

  /// The number of jobs that take about `time`, from 1 to `most`; 1 while the average is not known. A claim
  /// has as many as take far longer than a hand-off (below 1 µs), and far less than anybody notices.
  std::uint32_t jobs_in(Duration time, std::uint32_t most) const {
    if (!known()) return 1;
    return static_cast<std::uint32_t>(
        std::clamp(static_cast<double>(time.count()) / ns(), 1.0, static_cast<double>(most)));
  }

  /// Whether `queued` jobs wait longer for the `awake` workers than for a worker that is woken now.
  bool worth_a_wake_up(std::uint64_t queued, std::uint32_t awake) const {
    if (awake == 0 || !known()) return true;
    return static_cast<double>(queued) * ns() > static_cast<double>(wake_up_.count()) * awake;
  }

 private:
  double ns() const { return average_.load(std::memory_order_relaxed); }

  const Duration wake_up_;
  const bool steady_;
  std::atomic<double> average_{0};  // ns; 0 if not known
};

}  // namespace laneway::worker_pool
