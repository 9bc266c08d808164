// Looks after the programs of `handler.exec` beside the workers: takes what they write to standard error,
// reaps those that have ended, and brings those to an end that are to end, so that no worker waits for that.
//
// Threads: one of its own; add() and end() may be called from any. Blocks: the destructor, until all programs
// have ended, 1.5 s at most.
#pragma once

#include <memory>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/wake_event.h"
#include "handler/exec/exec_child.h"

namespace laneway::handler {

class ExecSupervisor {
 public:
  explicit ExecSupervisor(std::shared_ptr<ExecErrorLog> log);
  /// Every child has been given to end() before.
  ~ExecSupervisor();
  ExecSupervisor(const ExecSupervisor&) = delete;
  ExecSupervisor& operator=(const ExecSupervisor&) = delete;

  void add(std::shared_ptr<ExecChild> child) EXCLUDES(mutex_);
  /// No worker uses the child any more: it is ended, by SIGTERM after `patience` and then SIGKILL.
  void end(ExecChild& child, Duration patience);

 private:
  using Children = std::vector<std::shared_ptr<ExecChild>>;

  void watch() EXCLUDES(mutex_);
  /// Waits for something to happen; `until` at the latest.
  void wait(const Children& children, TimePoint until) const;
  TimePoint look_after(const Children& children) EXCLUDES(mutex_);
  Children children() EXCLUDES(mutex_);

  const std::shared_ptr<ExecErrorLog> log_;
  const WakeEvent wake_event_;
  Mutex mutex_;
  Condition fewer_;
  Children children_ GUARDED_BY(mutex_);
  bool stopped_ GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace laneway::handler
