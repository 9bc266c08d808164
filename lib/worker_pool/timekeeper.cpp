#include "worker_pool/timekeeper.h"

#include <algorithm>
#include <exception>
#include <utility>

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
  missed_ = std::min(at, missed_);
  if (!thread_.joinable() && !start()) return;  // `next_` stays, so that the next job comes here
  const auto next = std::min(std::exchange(missed_, never), next_.load(std::memory_order_relaxed));
  next_.store(next, std::memory_order_seq_cst);
  changed_.notify_one();
}

/// Must not throw: it is called between two jobs.
bool Timekeeper::start() {
  if (ended_) return false;
  try {
    thread_ = std::thread([this] { run(); });
    return true;
  } catch (const std::exception&) {  // of the system, or for want of memory
    start_failures_.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
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
