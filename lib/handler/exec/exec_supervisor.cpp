#include "handler/exec/exec_supervisor.h"

#include <algorithm>
#include <utility>

#include "base/poll.h"
#include "telemetry/log.h"

namespace laneway::handler {
namespace {

constexpr Duration longest_wait = seconds(1);  // for the log's report of lines left out
constexpr Duration farewell = milliseconds(1500);

}  // namespace

ExecSupervisor::ExecSupervisor(std::shared_ptr<ExecErrorLog> log, std::function<void()> at_each_look)
    : log_(std::move(log)), at_each_look_(std::move(at_each_look)), thread_([this] { watch(); }) {}

ExecSupervisor::~ExecSupervisor() {
  {
    MutexLock lock(mutex_);
    const auto deadline = Deadline::in(farewell);
    while (!children_.empty() && !deadline.passed()) fewer_.wait_until(mutex_, deadline.at);
    for (const auto& child : children_)
      telemetry::warn("exec program did not end", {{"pid", child->process().pid()}});
    stopped_ = true;
  }
  wake_event_.wake();
  thread_.join();
  log_->report(true);
}

void ExecSupervisor::add(std::shared_ptr<ExecChild> child) {
  {
    MutexLock lock(mutex_);
    children_.push_back(std::move(child));
  }
  wake_event_.wake();
}

void ExecSupervisor::end(ExecChild& child, Duration patience) {
  child.end(patience);
  wake_event_.wake();
}

ExecSupervisor::Children ExecSupervisor::children() {
  MutexLock lock(mutex_);
  return stopped_ ? Children() : children_;
}

void ExecSupervisor::watch() {
  for (;;) {
    const auto now_there = children();
    const auto next = look_after(now_there);
    {
      MutexLock lock(mutex_);
      if (stopped_) return;
    }
    log_->report(false);
    at_each_look_();
    wait(now_there, next);
  }
}

/// When something is to be done next.
TimePoint ExecSupervisor::look_after(const Children& children) {
  auto next = SteadyClock::now() + longest_wait;
  for (const auto& child : children) {
    child->errors().drain();
    if (const auto due = child->process().go_on_ending()) next = std::min(next, *due);
    if (!child->process().ended()) continue;
    child->errors().drain();
    MutexLock lock(mutex_);
    std::erase(children_, child);
    fewer_.notify_all();
    next = SteadyClock::now();
  }
  return next;
}

void ExecSupervisor::wait(const Children& children, TimePoint until) const {
  std::vector<pollfd> events{{wake_event_.number(), POLLIN, 0}};
  for (const auto& child : children) {
    events.push_back({child->errors().open_descriptor(), POLLIN, 0});
    events.push_back({child->process().exit_event().number(), POLLIN, 0});
  }
  poll_for(events, std::min<Duration>(until - SteadyClock::now(), longest_wait));
  wake_event_.clear();
}

}  // namespace laneway::handler
