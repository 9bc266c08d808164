// Notifies systemd about the service, for a unit of Type=notify: the start, each reload, the stop and how
// long it may take, a status line, and, with WatchdogSec=, that the loops of the members turn (sd_notify(3),
// sd_watchdog_enabled(3)).
//
// Without a service manager (NOTIFY_SOCKET) it does nothing and has no thread.
// Threads: one of its own, the only one that writes to the socket, so a service manager that does not read
// blocks nothing else. The functions may be called from any thread and do not block. The destructor waits for
// the remaining notifications, within the limits of watchdog.h. The sources are called on the thread until
// the destructor has returned.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/time.h"
#include "service/service.h"

namespace laneway::app {

/// In the order in which a service enters them.
enum class Phase { starting, started, stopping };

struct Notification {
  std::optional<Phase> entered;  ///< the phase that has just begun, if any
  Duration at_most{};            ///< how long a start or a stop may take
  bool ticks = true;             ///< feeds the service manager's watchdog
  std::string status;            ///< one line for a person
};

/// The text for the socket, a line NAME=value each. Control characters of the status become blanks.
std::string encode(const Notification& notification);

/// The text for a reload that began at `begun`; READY=1 has to follow.
std::string encode_reload(TimePoint begun);

/// The lanes in one line: their number, their lag, running records, and lanes that do not run.
std::string summary(const std::vector<service::LaneView>& lanes);

/// The status line of a service that has started: why the service is not ready, before the lanes, if there
/// are any.
std::string status_line(const service::Readiness& readiness, const std::vector<service::LaneView>& lanes);

class Notifier {
 public:
  struct Sources {
    std::function<service::Liveness()> live;
    std::function<service::Readiness()> ready;
    std::function<std::vector<service::LaneView>()> lanes;
  };

  /// `enabled`: false to send nothing, even if a service manager listens.
  Notifier(Sources sources, bool enabled);
  ~Notifier();
  Notifier(const Notifier&) = delete;
  Notifier& operator=(const Notifier&) = delete;

  /// Phases only go forward: a call with an earlier phase than the present one is ignored. `why`: replaces
  /// the status, also after the end.
  void enter(Phase phase, Duration at_most = {}, std::string why = {}) EXCLUDES(mutex_);
  /// The reload that began at `begun` has ended; it was done or refused.
  void reloaded(TimePoint begun) EXCLUDES(mutex_);

 private:
  void work() EXCLUDES(mutex_);
  /// Waits for a phase or for `at`. Returns false at the end.
  bool wait_until(TimePoint at) EXCLUDES(mutex_);
  std::string status_in(Phase phase) const;
  void tell() EXCLUDES(mutex_);

  const Sources sources_;
  const bool feeds_;         ///< the service manager has a watchdog
  const Duration interval_;  ///< of notifications: half of the watchdog's, so one may be late
  int last_code_ = 0;        ///< of sd_notify; used by the thread only
  Mutex mutex_;
  Condition changed_;
  std::optional<Phase> phase_ GUARDED_BY(mutex_);
  std::optional<Phase> untold_ GUARDED_BY(mutex_);
  std::optional<TimePoint> untold_reload_ GUARDED_BY(mutex_);
  Duration at_most_ GUARDED_BY(mutex_){};
  std::string why_ GUARDED_BY(mutex_);
  bool ended_ GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace laneway::app
