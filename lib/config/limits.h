// The settings of a rate limit and of a circuit breaker.
#pragma once

#include <cstdint>

#include "base/time.h"

namespace laneway::config {

/// A rate limit; 0 means no limit.
struct Rate {
  std::uint64_t records = 0;    ///< a second
  std::uint64_t bytes = 0;      ///< of keys and values, a second
  Duration burst = seconds(1);  ///< after an idle time, the amount of this time may start at once
};

struct BreakerSettings {
  std::uint32_t failures = 5;  ///< 0 disables the breaker
  Duration window = seconds(30);
  Duration probe = seconds(5);
  Duration slow{};  ///< a call that takes longer counts as a failure; 0 disables this
};

}  // namespace laneway::config
