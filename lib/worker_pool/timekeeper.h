// A thread that looks at the running jobs when the next of them reaches its timeout. The thread is started
// with the first job that has one, and waits for the owner in the destructor. While the system refuses the
// thread, jobs run without their timeouts; the next job with one tries again, also for those before it.
//
// Threads: any may call expect.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <thread>

#include "base/mutex.h"

namespace laneway::worker_pool {

class Timekeeper {
 public:
  static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

  /// `look` takes the time and returns the next time at which it must be called; both in ns.
  explicit Timekeeper(std::function<std::int64_t(std::int64_t)> look) : look_(std::move(look)) {}
  ~Timekeeper();
  Timekeeper(const Timekeeper&) = delete;
  Timekeeper& operator=(const Timekeeper&) = delete;

  /// A job that is visible to `look` has its timeout at this time.
  void expect(std::int64_t at) EXCLUDES(mutex_);
  std::uint64_t start_failures() const { return start_failures_.load(std::memory_order_relaxed); }

 private:
  bool start() REQUIRES(mutex_);
  void run() EXCLUDES(mutex_);

  const std::function<std::int64_t(std::int64_t)> look_;
  std::atomic<std::int64_t> next_{never};
  Mutex mutex_;
  Condition changed_;
  bool ended_ GUARDED_BY(mutex_) = false;
  std::int64_t missed_ GUARDED_BY(mutex_) = never;  ///< the first timeout that no thread waits for
  std::atomic<std::uint64_t> start_failures_{0};
  std::thread thread_ GUARDED_BY(mutex_);
};

}  // namespace laneway::worker_pool
