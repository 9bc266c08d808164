// Waiting in tests, for threads and brokers: long beyond what a loaded machine needs, so that who waits in
// vain has failed.
#pragma once

#include <thread>

#include "base/time.h"

namespace laneway {

inline constexpr Duration patience = seconds(60);

/// Until it holds; false when it does not within that time.
template <class Condition>
bool eventually(Condition&& condition, Duration within = patience) {
  const auto deadline = Deadline::in(within);
  while (!condition()) {
    if (deadline.passed()) return false;
    std::this_thread::sleep_for(milliseconds(2));
  }
  return true;
}

}  // namespace laneway
