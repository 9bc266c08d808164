// The share of its slots' time that a pool which helps others has for own jobs that wait too long (help.h).
//
// Such a job goes before the jobs of the helped pools while the pool's account is positive. The account grows
// by `own_share` of the time of all slots, and falls by the time of the claims that went first. It counts
// time and not claims: counting claims would give nearly all of the time to whichever pool has the longer
// ones. Only time in which own jobs wait too long is saved up, and slots that become free together do not all
// turn to own jobs.
//
// Threads: guarded by the pool's mutex. Nothing blocks. Pure: the caller gives the time.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/time.h"

namespace laneway::pool {

/// One twentieth.
inline constexpr double own_share = 0.05;

class OwnShare {
 public:
  /// Whether an own job goes first. `late`: for how long own jobs have waited too long.
  bool due(TimePoint now, Duration late, std::uint32_t slots) {
    advance(now, slots);
    account_ = std::min(account_, own_share * slots * to_seconds(late));
    return account_ > 0 && running_ < std::ceil(own_share * slots);
  }
  /// A claim goes before helped jobs. `kept`: the time for which a slot has been kept for it.
  void begin(TimePoint now, Duration kept, std::uint32_t slots) {
    advance(now, slots);
    account_ -= to_seconds(kept);
    ++running_;
  }
  /// That claim is finished, or found stuck.
  void end(TimePoint now, std::uint32_t slots) {
    advance(now, slots);
    --running_;
  }

 private:
  void advance(TimePoint now, std::uint32_t slots) {
    if (now <= at_) return;  // another thread read the clock later
    account_ += (own_share * slots - running_) * to_seconds(now - at_);
    at_ = now;
  }

  double account_ = 0;  // seconds of a slot
  TimePoint at_;
  std::uint32_t running_ = 0;
};

}  // namespace laneway::pool
