// A clock that stands until the test moves it on, for the thread that has made it: for pools without threads.
#pragma once

#include "base/time.h"

namespace laneway::pool {

class ManualClock {
 public:
  ManualClock();
  ~ManualClock();
  ManualClock(const ManualClock&) = delete;
  ManualClock& operator=(const ManualClock&) = delete;

  static TimePoint now() { return SteadyClock::now(); }
  void advance_to(TimePoint time);
};

}  // namespace laneway::pool
