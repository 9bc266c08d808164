// Looks after the programs of `handler.exec` beside the workers: reads their standard error, reaps programs
// that have ended, and ends programs that are no longer used, so that no worker waits for this.
//
// Threads: one of its own; add() and end() may be called from any thread. Blocks: the destructor, until all
// programs have ended, at most 1.5 s.
#pragma once

#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/wake_event.h"
#include "handler/exec/exec_child.h"

namespace laneway::handler {

class ExecSupervisor {
 public:
  /// `at_each_look` is called on the own thread, at least once a second.
  ExecSupervisor(std::shared_ptr<ExecErrorLog> log, std::function<void()> at_each_look);
  /// Every child must have been passed to end() before.
  ~ExecSupervisor();
  ExecSupervisor(const ExecSupervisor&) = delete;
  ExecSupervisor& operator=(const ExecSupervisor&) = delete;

  void add(std::shared_ptr<ExecChild> child) EXCLUDES(mutex_);
  /// No worker uses the child any more: ends it with SIGTERM after `patience`, and then SIGKILL.
  void end(ExecChild& child, Duration patience);

 private:
  using Children = std::vector<std::shared_ptr<ExecChild>>;

  void watch() EXCLUDES(mutex_);
  /// Waits for an event, until `until` at the latest.
  void wait(const Children& children, TimePoint until) const;
  TimePoint look_after(const Children& children) EXCLUDES(mutex_);
  Children children() EXCLUDES(mutex_);

  const std::shared_ptr<ExecErrorLog> log_;
  const std::function<void()> at_each_look_;
  const WakeEvent wake_event_;
  Mutex mutex_;
  Condition fewer_;
  Children children_ GUARDED_BY(mutex_);
  bool stopped_ GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last, because it uses the other members
};

}  // namespace laneway::handler
