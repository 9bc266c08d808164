#include "app/process/watchdog.h"

#include <unistd.h>

#include <algorithm>

#include "telemetry/log.h"

namespace laneway::app {

Watchdog::Watchdog() : thread_([this] { watch(); }) {}

Watchdog::~Watchdog() {
  {
    MutexLock lock(mutex_);
    ended_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Watchdog::arm(TimePoint at, int exit_code) {
  {
    MutexLock lock(mutex_);
    at_ = at_ ? std::min(*at_, at) : at;
    exit_code_ = exit_code;
  }
  changed_.notify_one();
}

std::optional<int> Watchdog::wait() {
  MutexLock lock(mutex_);
  while (!ended_) {
    if (!at_)
      changed_.wait(mutex_);
    else if (SteadyClock::now() < *at_)
      changed_.wait_until(mutex_, TimePoint(*at_));
    else
      return exit_code_;
  }
  return {};
}

void Watchdog::watch() {
  const auto exit_code = wait();
  if (!exit_code) return;
  telemetry::error("exit forced",
                   {{"exit_code", *exit_code}, {"error", "a handler or the client library hangs"}});
  end_process(*exit_code);
}

void end_process(int exit_code) {
  telemetry::flush_log();
  ::_exit(exit_code);
}

}  // namespace laneway::app
