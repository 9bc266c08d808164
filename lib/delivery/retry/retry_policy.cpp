#include "delivery/retry/retry_policy.h"

#include <algorithm>
#include <limits>

namespace laneway::delivery {

Duration RetryPolicy::delay(std::uint32_t attempt, double random, std::optional<Duration> after) const {
  if (after) return std::clamp(*after, Duration::zero(), max_after);
  const auto doublings = attempt > 0 ? attempt - 1 : 0;
  constexpr std::uint32_t bits = std::numeric_limits<Duration::rep>::digits;
  // Compares before doubling: backoff × 2^doublings may be more than a Duration holds.
  const bool capped = doublings >= bits || backoff.count() > (max_backoff.count() >> doublings);
  const auto full = capped ? max_backoff : Duration(backoff.count() << doublings);
  const auto half = full / 2;
  return half + Duration(static_cast<Duration::rep>(static_cast<double>((full - half).count()) * random));
}

}  // namespace laneway::delivery
