// Stops dead letters for rejections when a handler rejects nearly everything, because then something else is
// wrong and not the records. Rejected records are dead-lettered again when records succeed again.
//
// A bucket of `rate` rejections per second over a minute; each record that succeeds gives one back. So the
// bucket is empty when about that many more records were rejected than succeeded. Then the guard closes, and
// opens again only when the bucket has become full: while refused records are rejected again and again, the
// guard stays closed; when they succeed, or a minute after the last rejection, it opens. Pure: the time is
// given in, and may go back a little if several threads give the times of their turns. One owner; not
// thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.h"

namespace laneway::delivery {

class FloodGuard {
 public:
  /// `rate`: rejections per second; 0: no limit.
  explicit FloodGuard(std::uint64_t rate)
      : rate_(static_cast<double>(rate)), full_(rate_ * window), left_(full_) {}

  /// A record was rejected: returns whether it may be dead-lettered. `successes`: of all records so far.
  bool admit(TimePoint now, std::uint64_t successes) {
    if (rate_ <= 0) return true;
    closed_ = closed(now, successes) || left_ < 1;
    left_ = std::max(left_ - 1, 0.0);
    return !closed_;
  }
  /// Whether no rejected record may be dead-lettered now.
  bool closed(TimePoint now, std::uint64_t successes) {
    refill(now, successes);
    if (left_ >= full_ - 1) closed_ = false;
    return closed_;
  }

 private:
  static constexpr double window = 60;  // seconds

  void refill(TimePoint now, std::uint64_t successes) {
    const auto until = std::max(now, at_);
    left_ += rate_ * to_seconds(until - at_);  // at first, more than there is room for
    left_ = std::min(left_ + static_cast<double>(successes - successes_), full_);
    at_ = until;
    successes_ = successes;
  }

  double rate_;
  double full_;
  double left_;
  bool closed_ = false;
  TimePoint at_{};
  std::uint64_t successes_ = 0;
};

}  // namespace laneway::delivery
