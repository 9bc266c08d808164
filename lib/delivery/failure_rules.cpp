#include "delivery/failure_rules.h"

namespace laneway::delivery {

FailureRules::Step FailureRules::after_retry(std::uint32_t attempt, Duration waited, double random,
                                             std::optional<Duration> after) const {
  const auto delay = delays.delay(attempt, random, after);
  if (!dead_letters) return {std::nullopt, delay};
  if (attempt >= attempts) return {DeadLetterReason::attempts_exhausted, {}};
  // A delay that would end beyond the limit is not begun.
  if (waited + delay > max_elapsed) return {DeadLetterReason::retry_time_over, {}};
  return {std::nullopt, delay};
}

FailureRules::Step FailureRules::after_reject(std::uint32_t attempt, double random) const {
  if (dead_letters) return {DeadLetterReason::rejected, {}};
  return {std::nullopt, delays.delay(attempt, random)};
}

}  // namespace laneway::delivery
