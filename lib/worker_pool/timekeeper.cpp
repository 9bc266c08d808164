#include "worker_pool/timekeeper.h"

#include <algorithm>

namespace laneway::worker_pool {

Timekeeper::~Timekeeper() {
  std::thread thread;
  {
    MutexLock lock(mutex_);
    ended_ = true;
    thread.swap(thread_);
  }
  changed_.notify_one();
  if (thread.joinable()) thread.join();
}

void Timekeeper::expect(std::int64_t at) {
  if (at >= next_.load(std::memory_order_seq_cst)) return;
  MutexLock lock(mutex_);
  next_.store(std::min(at, next_.load(std::memory_order_relaxed)), std::memory_order_seq_cst);
  if (!thread_.joinable() && !ended_) thread_ = std::thread([this] { run(); });
  changed_.notify_one();
}

void Timekeeper::run() {
  for (;;) {
    {
      MutexLock lock(mutex_);
      const auto next = next_.load(std::memory_order_relaxed);
      if (ended_) return;
      if (next == never) {
        changed_.wait(mutex_);
        continue;
      }
      const TimePoint at{Duration(next)};
      if (SteadyClock::now() < at) {
        changed_.wait_until(mutex_, at);
        continue;
      }
      next_.store(never, std::memory_order_seq_cst);  // before looking: who comes later expects it again
    }
    const auto next = look_(SteadyClock::now().time_since_epoch().count());
    if (next != never) {
      MutexLock lock(mutex_);
      next_.store(std::min(next, next_.load(std::memory_order_relaxed)), std::memory_order_seq_cst);
    }
  }
}

}  // namespace laneway::worker_pool
