// What systemd is told about the service, for a unit of Type=notify: that it has started, that it has read
// its configuration again, that it stops and how long that may take, how it is, and, with WatchdogSec=, that
// the members' loops tick (sd_notify(3), sd_watchdog_enabled(3)).
//
// Where no service manager listens (NOTIFY_SOCKET) it does nothing and has no thread.
// Threads: one of its own, which alone writes to the socket: a service manager that does not read blocks
// nobody else. The functions may be called from any thread and do not block; the destructor waits for what is
// left to tell, within the reach of watchdog.h. The sources are called on the thread, until the destructor
// has returned.
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

/// In the order of the service's life.
enum class Phase { starting, started, stopping };

struct Notification {
  std::optional<Phase> entered;  ///< the phase that has just begun
  Duration at_most{};            ///< how long it may take, where it starts or stops
  bool ticks = true;             ///< the service manager's watchdog is fed
  std::string status;            ///< one line for people
};

/// As the socket takes it: NAME=value, a line each. Control characters of the status become blanks.
std::string encode(const Notification& notification);

/// That the configuration was read again, since then; READY=1 has to follow.
std::string encode_reload(TimePoint begun);

/// The lanes in one line: how many, how far behind, how many of them wait for what.
std::string summary(const std::vector<service::LaneView>& lanes);

class Notifier {
 public:
  struct Sources {
    std::function<service::Liveness()> live;
    std::function<std::vector<service::LaneView>()> lanes;
  };

  /// `enabled`: where it is not, a service manager is not told anything either.
  Notifier(Sources sources, bool enabled);
  ~Notifier();
  Notifier(const Notifier&) = delete;
  Notifier& operator=(const Notifier&) = delete;

  /// Phases only go forward: a later one is told even when an earlier one has not been, an earlier one no
  /// more. `why`: from now on told as the status, for who looks at it afterwards.
  void enter(Phase phase, Duration at_most = {}, std::string why = {}) EXCLUDES(mutex_);
  /// A reload that began then is over, done or refused.
  void reloaded(TimePoint begun) EXCLUDES(mutex_);

 private:
  void work() EXCLUDES(mutex_);
  /// Waits for a phase or for `at`. False: it ends.
  bool wait_until(TimePoint at) EXCLUDES(mutex_);
  void tell() EXCLUDES(mutex_);

  const Sources sources_;
  const bool feeds_;         ///< the service manager has a watchdog
  const Duration interval_;  ///< of notifications: of two for the watchdog, one may be late
  int last_code_ = 0;        ///< of sd_notify; the thread's own
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
