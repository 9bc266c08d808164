// Time as laneway uses it: the steady clock for every deadline and duration, the system clock only for what
// people read and for what is compared with the timestamps of records.
#pragma once

#include <chrono>
#include <cstdint>

namespace laneway {

using SteadyClock = std::chrono::steady_clock;
using TimePoint = SteadyClock::time_point;
using Duration = SteadyClock::duration;

using std::chrono::duration_cast;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

/// ms since 1970, as Kafka's timestamps.
inline std::int64_t wall_clock_ms() {
  return duration_cast<milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

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
