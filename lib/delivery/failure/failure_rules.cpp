#include "delivery/failure/failure_rules.h"

#include <algorithm>

namespace laneway::delivery {

FailureRules::Step FailureRules::after_retry(std::uint32_t attempt, std::uint32_t fewest, Duration spent,
                                             double random, std::optional<Duration> after) const {
  const auto delay = delays.delay(attempt, random, after);
  if (!dead_letters || attempt < fewest) return {std::nullopt, delay};
  if (attempt >= attempts) return {DeadLetterReason::attempts_exhausted, {}};
  const auto left = max_elapsed - std::min(spent, max_elapsed);
  // An attempt that would end beyond the limit is not begun, unless only the requested delay is so long.
  if (std::min(delay, delays.delay(attempt, random)) > left) return {DeadLetterReason::retry_time_over, {}};
  return {std::nullopt, std::min(delay, left)};
}

FailureRules::Step FailureRules::after_reject(std::uint32_t attempt, double random) const {
  if (dead_letters) return {DeadLetterReason::rejected, {}};
  return {std::nullopt, delays.delay(attempt, random)};
}

}  // namespace laneway::delivery
