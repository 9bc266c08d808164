// Time as laneway uses it: the steady clock for every deadline and duration, the system clock only for what
// people read.
#pragma once

#include <chrono>

namespace laneway {

using SteadyClock = std::chrono::steady_clock;
using TimePoint = SteadyClock::time_point;
using Duration = SteadyClock::duration;

using std::chrono::duration_cast;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

inline double to_seconds(Duration d) { return std::chrono::duration<double>(d).count(); }

/// A point on the steady clock that something must not outlast.
class Deadline {
 public:
  explicit Deadline(TimePoint at) : at_(at) {}
  static Deadline in(Duration d) { return Deadline(SteadyClock::now() + d); }

  TimePoint at() const { return at_; }
  bool passed() const { return SteadyClock::now() >= at_; }
  /// Never negative.
  Duration left() const {
    const auto now = SteadyClock::now();
    return now >= at_ ? Duration::zero() : at_ - now;
  }

 private:
  TimePoint at_;
};

}  // namespace laneway
