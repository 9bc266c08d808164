// A thread that looks at the running jobs when the next of them reaches its timeout. The thread is started
// with the first job that has one, and waits for the owner in the destructor.
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

 private:
  void run() EXCLUDES(mutex_);

  const std::function<std::int64_t(std::int64_t)> look_;
  std::atomic<std::int64_t> next_{never};
  Mutex mutex_;
  Condition changed_;
  bool ended_ GUARDED_BY(mutex_) = false;
  std::thread thread_ GUARDED_BY(mutex_);
};

}  // namespace laneway::worker_pool
