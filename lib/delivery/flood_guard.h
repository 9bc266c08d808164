// When too many records are given up at once it is an outage that the handler takes for the records' fault:
// then no dead letters are written, until fewer were to be written for a while.
//
// A token bucket of `rate` letters a second over a minute (delivery/token_bucket.h). When it runs dry the
// guard closes. Letters that it then refuses are still metered, so it opens again only when the bucket has
// become full: while records that were refused fail again and again, it stays closed; when they succeed, it
// opens within a minute. Pure: the time is given in and must not go back. One owner; not thread-safe.
#pragma once

#include <cstdint>

#include "base/time.h"
#include "delivery/token_bucket.h"

namespace laneway::delivery {

class FloodGuard {
 public:
  /// `rate`: letters a second; 0: no limit.
  explicit FloodGuard(std::uint64_t rate)
      : letters_(static_cast<double>(rate)), bucket_(letters_, letters_ * window) {}

  /// A letter is to be written now: may it?
  bool admit(TimePoint now) {
    if (!bucket_.limited()) return true;
    const double there = bucket_.available(now);
    if (closed_ && there >= letters_ * window - 1) closed_ = false;
    if (there >= 1)
      bucket_.take(now, 1);
    else
      closed_ = true;
    return !closed_;
  }

 private:
  static constexpr double window = 60;  // seconds

  double letters_;
  TokenBucket bucket_;
  bool closed_ = false;
};

}  // namespace laneway::delivery
