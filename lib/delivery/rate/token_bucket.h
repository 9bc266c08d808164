// A rate limit: tokens arrive at `rate` per second up to `burst` (J. Turner, "New directions in
// communications", 1986: the leaky bucket as a meter).
//
// More tokens than available may be taken once nothing is owed: the excess is a debt that later callers wait
// for. So an amount that is known only afterwards (the bytes of a record) can be limited, and an amount
// larger than the burst passes. Pure: the time is given in and must not go back. One owner; not thread-safe.
#pragma once

#include <algorithm>

#include "base/time.h"

namespace laneway::delivery {

class TokenBucket {
 public:
  /// Full at first. A rate of 0 means no limit.
  TokenBucket(double rate, double burst) : rate_(rate), burst_(std::max(burst, 1.0)), tokens_(burst_) {}

  /// Whole tokens that may be taken now; at least 1 once nothing is owed.
  double available(TimePoint now) {
    refill(now);
    return tokens_;
  }
  /// A negative number gives back tokens that were not used.
  void take(TimePoint now, double tokens) {
    if (rate_ <= 0) return;
    refill(now);
    tokens_ = std::min(burst_, tokens_ - tokens);
  }
  /// Replaces the rate; takes effect immediately. A debt remains, and available tokens remain as far as they
  /// fit.
  void change(TimePoint now, double rate, double burst) {
    refill(now);
    burst_ = std::max(burst, 1.0);
    tokens_ = rate_ > 0 ? std::min(tokens_, burst_) : burst_;
    rate_ = rate;
  }
  bool limited() const { return rate_ > 0; }
  double rate() const { return rate_; }
  /// When `tokens` tokens will have arrived, even if that is more than the burst.
  TimePoint ready_at(TimePoint now, double tokens = 1) {
    refill(now);
    if (rate_ <= 0 || tokens_ >= tokens) return now;
    return now + from_seconds((tokens - tokens_) / rate_);
  }

 private:
  void refill(TimePoint now) {
    if (last_ != TimePoint{} && now > last_)
      tokens_ = std::min(burst_, tokens_ + to_seconds(now - last_) * rate_);
    last_ = std::max(last_, now);
  }

  double rate_;
  double burst_;
  double tokens_;
  TimePoint last_{};
};

}  // namespace laneway::delivery
