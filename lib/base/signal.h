// Wakes one sleeping thread: any number of notify() calls before a wait end that wait once.
//
// Threads: one thread waits, any thread may notify. A notify while the waiter is awake costs one atomic
// exchange and no system call.
#pragma once

#include <atomic>

#include "base/mutex.h"
#include "base/time.h"

namespace laneway {

class Signal {
 public:
  void notify() EXCLUDES(mutex_) {
    if (state_.exchange(raised, std::memory_order_acq_rel) != asleep) return;
    // The waiter changed the state under the mutex, so it is waiting, or about to check again.
    { MutexLock lock(mutex_); }
    condition_.notify_one();
  }

  /// Returns when notified, even if that was before the call, or at `at`.
  void wait_until(TimePoint at) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    int expected = quiet;
    if (state_.compare_exchange_strong(expected, asleep, std::memory_order_acq_rel)) {
      while (state_.load(std::memory_order_acquire) == asleep && SteadyClock::now() < at)
        condition_.wait_until(mutex_, at);
    }
    state_.store(quiet, std::memory_order_release);
  }

 private:
  static constexpr int quiet = 0;
  static constexpr int raised = 1;
  static constexpr int asleep = 2;

  Mutex mutex_;
  Condition condition_;
  std::atomic<int> state_{quiet};
};

}  // namespace laneway
