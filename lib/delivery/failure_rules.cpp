#include "delivery/failure_rules.h"

namespace laneway::delivery {

const char* name_of(GivenUp why) {
  switch (why) {
    case GivenUp::rejected:
      return "rejected";
    case GivenUp::attempts:
      return "attempts";
    case GivenUp::elapsed:
      return "elapsed";
    case GivenUp::crashed:
      return "crashed";
    case GivenUp::too_old:
      return "too_old";
  }
  return "unknown";
}

FailureRules::Step FailureRules::after_retry(std::uint32_t attempt, Duration waited, double random,
                                             std::optional<Duration> after) const {
  const auto delay = delays.delay(attempt, random, after);
  if (!dead_letters) return {std::nullopt, delay};
  if (attempt >= attempts) return {GivenUp::attempts, {}};
  // A delay that would end beyond the limit is not begun.
  if (waited + delay > max_elapsed) return {GivenUp::elapsed, {}};
  return {std::nullopt, delay};
}

FailureRules::Step FailureRules::after_reject(std::uint32_t attempt, double random) const {
  if (dead_letters) return {GivenUp::rejected, {}};
  return {std::nullopt, delays.delay(attempt, random)};
}

}  // namespace laneway::delivery
