// How long one job takes, learnt from finished claims, and what follows from it for claims and wake-ups.
// Pure.
//
// An exponentially weighted moving average of the mean service time of each claim, with weight 1/8 (as TCP
// smooths its round trips, RFC 6298): one preempted claim does not change the pool's mind, a change of the
// work does within a few.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.h"

namespace laneway::pool {

class ServiceTime {
 public:
  /// A claim is as many jobs as take about this long: far above what a hand-off costs (below 1 µs), far below
  /// what anybody waits for.
  static constexpr Duration claim_time = microseconds(50);
  static constexpr std::uint32_t largest_claim = 256;
  /// A claim that takes longer is wanted back: the estimate was wrong, and what is done in it is not known to
  /// anybody before it ends.
  static constexpr Duration longest_claim = milliseconds(20);
  /// From waking a thread to its running on another core, with some room.
  static constexpr Duration wake_up_cost = microseconds(10);

  /// `jobs` jobs, one after the other, took `total`.
  void record(Duration total, std::uint32_t jobs) {
    const double sample = std::max(static_cast<double>(total.count()), 1.0) / jobs;
    average_ = known() ? average_ + (sample - average_) / 8 : sample;
  }
  /// Back to the cautious start, when the average has proved wrong.
  void forget() { average_ = 0; }

  bool known() const { return average_ > 0; }
  /// Rounded up to a nanosecond; zero when not known.
  Duration average() const {
    return known() ? nanoseconds(static_cast<std::int64_t>(average_) + 1) : Duration::zero();
  }

  /// 1 for slow jobs, and until something is known.
  std::uint32_t claim_size() const {
    if (!known()) return 1;
    const double jobs = static_cast<double>(claim_time.count()) / average_;
    return static_cast<std::uint32_t>(std::clamp(jobs, 1.0, static_cast<double>(largest_claim)));
  }

  /// Whether `queued` jobs wait longer for the `awake` workers than for a worker that is woken now.
  bool worth_a_wake_up(std::uint64_t queued, std::uint32_t awake) const {
    if (awake == 0 || !known()) return true;
    return static_cast<double>(queued) * average_ > static_cast<double>(wake_up_cost.count()) * awake;
  }

 private:
  double average_ = 0;  // ns; 0: not known
};

}  // namespace laneway::pool
