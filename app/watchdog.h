// Ends the process when it does not end by itself: a handler or the client library can hang where no deadline
// of ours reaches.
//
// Threads: one of its own, which does nothing else; arm() may be called from any.
#pragma once

#include <optional>
#include <thread>

#include "base/mutex.h"
#include "base/time.h"

namespace laneway::app {

/// From the end of a drain to the end of the process; 5 s are promised.
inline constexpr Duration exit_grace = milliseconds(4500);

class Watchdog {
 public:
  Watchdog();
  /// Disarms.
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// At `at` the process ends with `exit_code`, unless this object is gone by then. Of several times the
  /// earliest counts, of several exit codes the last.
  void arm(TimePoint at, int exit_code) EXCLUDES(mutex_);

 private:
  void watch() EXCLUDES(mutex_);
  /// Returns the exit code when the time has come; nothing when there is no more to watch.
  std::optional<int> wait() EXCLUDES(mutex_);

  Mutex mutex_;
  Condition changed_;
  std::optional<TimePoint> at_ GUARDED_BY(mutex_);
  int exit_code_ GUARDED_BY(mutex_) = 0;
  bool ended_ GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: it uses the others
};

/// Ends the process at once: no destructor runs, so nothing that hangs is waited for.
[[noreturn]] void end_process(int exit_code);

}  // namespace laneway::app
