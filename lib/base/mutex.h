// A mutex, its lock and its condition variable with Clang's thread-safety annotations: each field names the
// mutex that guards it, and a Clang build (scripts/test static) refuses code that uses the field without the
// mutex. Annotations: https://clang.llvm.org/docs/ThreadSafetyAnalysis.html
#pragma once

#include <condition_variable>
#include <mutex>

#include "base/time.h"

#if defined(__clang__)
#define LANEWAY_ANNOTATE(x) __attribute__((x))
#else
#define LANEWAY_ANNOTATE(x)
#endif
#define GUARDED_BY(m) LANEWAY_ANNOTATE(guarded_by(m))
#define REQUIRES(...) LANEWAY_ANNOTATE(requires_capability(__VA_ARGS__))
#define EXCLUDES(...) LANEWAY_ANNOTATE(locks_excluded(__VA_ARGS__))

namespace laneway {

class LANEWAY_ANNOTATE(capability("mutex")) Mutex {
 public:
  void lock() LANEWAY_ANNOTATE(acquire_capability()) { mutex_.lock(); }
  void unlock() LANEWAY_ANNOTATE(release_capability()) { mutex_.unlock(); }

 private:
  friend class Condition;
  std::mutex mutex_;
};

class LANEWAY_ANNOTATE(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) LANEWAY_ANNOTATE(acquire_capability(mutex)) : mutex_(mutex) {
    mutex_.lock();
  }
  ~MutexLock() LANEWAY_ANNOTATE(release_capability()) { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

/// Wakes waiters of a Mutex. Waits may end early without cause, so callers loop on their own condition.
class Condition {
 public:
  void notify_one() { condition_.notify_one(); }
  void notify_all() { condition_.notify_all(); }

  void wait(Mutex& mutex) REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    condition_.wait(lock);
    lock.release();
  }
  /// Returns false if `at` has passed.
  bool wait_until(Mutex& mutex, TimePoint at) REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    const auto status = condition_.wait_until(lock, SteadyClock::wait_until(at));
    lock.release();
    return status == std::cv_status::no_timeout || SteadyClock::now() < at;
  }

 private:
  std::condition_variable condition_;
};

}  // namespace laneway
