// The settings of a circuit breaker.
#pragma once

#include <cstdint>

#include "base/time.h"

namespace laneway::config {

struct Breaker {
  std::uint32_t failures = 5;  ///< 0 disables the breaker
  Duration window = seconds(30);
  Duration probe = seconds(5);
  Duration slow{};  ///< a call that takes longer counts as a failure; 0 disables this
};

}  // namespace laneway::config
