// What follows a failed attempt: another attempt after a delay, or the dead-letter topic.
//
//   retry        another attempt, up to `attempts` and `max_elapsed` in all; then the dead letter
//   reject       the dead letter at once
//   unavailable  another attempt, for as long as the outage lasts: it is not this record's fault
//   no dead-letter topic: another attempt, forever
//
// Time during an outage of the downstream does not count, so `max_elapsed` is measured by the record's own
// attempts and the delays between them, and not by the clock. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.h"
#include "delivery/dead_letter/dead_letter.h"
#include "delivery/retry/retry_policy.h"

namespace laneway::delivery {

struct FailureRules {
  RetryPolicy delays;
  std::uint32_t attempts = 5;
  Duration max_elapsed = std::chrono::minutes(5);
  bool dead_letters = false;

  /// Either a reason to give up, or the delay before the next attempt.
  struct Step {
    std::optional<DeadLetterReason> given_up;
    Duration delay{};
  };

  /// Attempt number `attempt` (from 1) was answered with retry; `spent` is the time of the record's attempts
  /// and of the delays between them. A requested delay `after` that reaches beyond max_elapsed is cut to it.
  /// `fewest`: the least number of attempts, whatever the limits are.
  Step after_retry(std::uint32_t attempt, std::uint32_t fewest, Duration spent, double random,
                   std::optional<Duration> after) const;
  Step after_reject(std::uint32_t attempt, double random) const;
};

}  // namespace laneway::delivery
