// How long a failed record waits before its next attempt: capped exponential back-off with "equal jitter" (M.
// Brooker, "Exponential Backoff And Jitter", 2015), so that records that failed together do not come back
// together.
//
// Pure: the attempt number and the random number are given in. Any thread.
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.h"

namespace laneway::delivery {

struct RetryPolicy {
  Duration backoff = milliseconds(100);
  Duration max_backoff = seconds(30);
  /// Limit of the delay that a handler may ask for; the handler applies its own limit (of Retry-After)
  /// before.
  static constexpr Duration max_after = std::chrono::hours(24);

  /// The delay after attempt number `attempt` (from 1) has failed; `random` is in [0, 1). The delay is
  /// between half of min(max_backoff, backoff × 2^(attempt − 1)) and all of it. If the handler asked for a
  /// delay, `after` is used unchanged, up to max_after: the handler knows more than a back-off can.
  Duration delay(std::uint32_t attempt, double random, std::optional<Duration> after = {}) const;
};

}  // namespace laneway::delivery
