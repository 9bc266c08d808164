// Makes sure that standstills of the process are noticed (running_time.h), and reports each of them.
//
// Ownership: the owner of a service has one as long as the service runs. Threads: one of its own, which calls
// `on_standstill` with the length of the standstill; the destructor waits for that thread.
#pragma once

#include <pthread.h>

#include <functional>
#include <thread>

#include "base/mutex.h"
#include "base/time.h"

namespace laneway {

class StandstillWatch {
 public:
  explicit StandstillWatch(std::function<void(Duration)> on_standstill)
      : on_standstill_(std::move(on_standstill)), known_(SteadyClock::stood_still()) {
    SteadyClock::begin_watch();
    thread_ = std::thread([this] { run(); });
  }
  ~StandstillWatch() {
    {
      MutexLock lock(mutex_);
      ended_ = true;
    }
    end_.notify_one();
    thread_.join();
    SteadyClock::end_watch();
  }
  StandstillWatch(const StandstillWatch&) = delete;
  StandstillWatch& operator=(const StandstillWatch&) = delete;

 private:
  static constexpr Duration interval = milliseconds(100);

  void run() EXCLUDES(mutex_) {
    ::pthread_setname_np(::pthread_self(), "clock");  // for top -H and debuggers
    while (!wait()) {
      const auto stood = SteadyClock::stood_still();
      if (stood > known_) on_standstill_(stood - known_);
      known_ = stood;
    }
  }
  /// Returns true when the watch ends.
  bool wait() EXCLUDES(mutex_) {
    const auto until = SteadyClock::now() + interval;
    MutexLock lock(mutex_);
    while (!ended_ && SteadyClock::now() < until) end_.wait_until(mutex_, until);
    return ended_;
  }

  const std::function<void(Duration)> on_standstill_;
  Duration known_;
  Mutex mutex_;
  Condition end_;
  bool ended_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace laneway
