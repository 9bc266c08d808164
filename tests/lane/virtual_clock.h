// The clocks of the process, steady and system, stand where a test says: what the loop is given as the time,
// and what workers, headers and timestamps read, is then one time. For tests without further threads.
//
// The linker leads the two functions of the standard library through virtual_clock_test.cpp.
#pragma once

#include <cstdint>

#include "base/time.h"

namespace laneway::lane {

/// As long as this lives, both clocks follow `now`; one at a time.
class VirtualClock {
 public:
  explicit VirtualClock(const TimePoint& now);
  ~VirtualClock();
  VirtualClock(const VirtualClock&) = delete;

  std::int64_t steady() const { return now_.time_since_epoch().count(); }
  std::int64_t system() const { return wall_origin_ + (now_ - begun_).count(); }

 private:
  const TimePoint& now_;
  const TimePoint begun_;
  const std::int64_t wall_origin_;
};

}  // namespace laneway::lane
