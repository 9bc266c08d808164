// Ends the process if it does not end by itself: a handler or the client library can hang where no deadline
// of laneway applies.
//
// Threads: one of its own, only for this; arm() may be called from any.
#pragma once

#include <optional>
#include <thread>

#include "base/mutex.h"
#include "base/time.h"

namespace laneway::app {

/// The longest time from the end of a drain to the end of the process; the documentation promises 5 s.
inline constexpr Duration exit_grace = milliseconds(4500);

class Watchdog {
 public:
  Watchdog();
  /// Disarms.
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// The process ends at `at` with `exit_code`, unless this object has been destroyed. The earliest of
  /// several times counts, and the last of several exit codes.
  void arm(TimePoint at, int exit_code) EXCLUDES(mutex_);

 private:
  void watch() EXCLUDES(mutex_);
  /// Returns the exit code at the time, or nullopt when the watchdog is destroyed.
  std::optional<int> wait() EXCLUDES(mutex_);

  Mutex mutex_;
  Condition changed_;
  std::optional<TimePoint> at_ GUARDED_BY(mutex_);
  int exit_code_ GUARDED_BY(mutex_) = 0;
  bool ended_ GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: it uses the others
};

/// Ends the process at once: no destructor runs, so nothing waits for a thread that hangs.
[[noreturn]] void end_process(int exit_code);

}  // namespace laneway::app
