// Time in laneway: the steady clock for every deadline and duration, and the system clock only for times that
// people read or that are compared with the timestamps of records.
//
// The steady clock stands still while the process does (running_time.h): a SIGSTOP makes no deadline pass.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "base/running_time.h"

namespace laneway {

class SteadyClock {
  using Machine = std::chrono::steady_clock;

 public:
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<SteadyClock>;
  static constexpr bool is_steady = true;

  static time_point now() noexcept { return time_point(running_.read(machine_now)); }

  /// The total time that the process has stood still.
  static duration stood_still() { return running_.stood_still(); }
  /// The machine's time, for comparisons with other processes.
  static Machine::time_point on_machine(time_point at) {
    return Machine::time_point(running_.on_machine(at.time_since_epoch()));
  }
  /// The time at which a system call that waits for `at` must end; too early if a standstill follows.
  static Machine::time_point wait_until(time_point at) {
    const auto stood = stood_still();
    return Machine::time_point(std::min(at.time_since_epoch(), duration::max() - stood) + stood);
  }

  static void begin_watch() { running_.begin_watch(machine_now); }
  static void end_watch() { running_.end_watch(); }

 private:
  static duration machine_now() { return Machine::now().time_since_epoch(); }

  static inline RunningTime running_;
};

using TimePoint = SteadyClock::time_point;
using Duration = SteadyClock::duration;

using std::chrono::duration_cast;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

/// ms since 1970, like Kafka's timestamps.
inline std::int64_t wall_clock_ms() {
  return duration_cast<milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

inline double to_seconds(Duration d) { return std::chrono::duration<double>(d).count(); }
inline Duration from_seconds(double value) {
  return duration_cast<Duration>(std::chrono::duration<double>(value));
}

/// A point on the steady clock by which something must end.
struct Deadline {
  TimePoint at;

  static Deadline in(Duration d) { return {SteadyClock::now() + d}; }

  bool passed() const { return SteadyClock::now() >= at; }
  /// Never negative.
  Duration left() const {
    const auto now = SteadyClock::now();
    return now >= at ? Duration::zero() : at - now;
  }
};

}  // namespace laneway
