// The time that one job takes, measured from finished claims, and the resulting claim sizes and wake-ups.
// Pure.
//
// An exponentially weighted moving average of the mean service time of each claim, with weight 1/8 (as TCP
// smooths its round trips, RFC 6298): one preempted claim hardly changes the average, and a change of the
// work changes it within a few claims.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.h"

namespace laneway::pool {

class ServiceTime {
 public:
  /// A claim has as many jobs as take about this long: far more than a hand-off costs (below 1 µs), and far
  /// less than anybody notices.
  static constexpr Duration claim_time = microseconds(50);
  static constexpr std::uint32_t largest_claim = 256;
  /// A claim that takes longer is wanted back: the estimate was wrong, and nobody learns of the jobs that are
  /// done in the claim before it ends.
  static constexpr Duration longest_claim = milliseconds(20);
  /// The time from waking a thread until it runs on another core, with some margin.
  static constexpr Duration wake_up_cost = microseconds(10);

  /// Records that `jobs` jobs, one after the other, took `total`.
  void record(Duration total, std::uint32_t jobs) {
    const double sample = std::max(static_cast<double>(total.count()), 1.0) / jobs;
    average_ = known() ? average_ + (sample - average_) / 8 : sample;
  }
  /// Forgets the average, which has proved wrong, and starts cautiously again.
  void forget() { average_ = 0; }

  bool known() const { return average_ > 0; }
  /// Rounded up to a nanosecond; zero if not known.
  Duration average() const {
    return known() ? nanoseconds(static_cast<std::int64_t>(average_) + 1) : Duration::zero();
  }

  /// 1 for slow jobs, and while the average is not known.
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
  double average_ = 0;  // ns; 0 if not known
};

}  // namespace laneway::pool
