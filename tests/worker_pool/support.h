// What the tests of the pool share: gates instead of sleeps.
#pragma once

#include <dirent.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "catch.h"
#include "eventually.h"
#include "laneway/pool.hpp"

namespace laneway {

/// Holds whoever comes until it is opened (or the test has failed, so that a failed test ends).
class PoolGate {
 public:
  ~PoolGate() { open(); }
  void pass() EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    ++waiting_;
    while (!open_ && !given_up_.passed()) opened_.wait_until(mutex_, given_up_.at);
    --waiting_;
  }
  void open() EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    open_ = true;
    opened_.notify_all();
  }
  bool holds(int count) EXCLUDES(mutex_) {
    return eventually([&] {
      MutexLock lock(mutex_);
      return waiting_ == count;
    });
  }

 private:
  const Deadline given_up_ = Deadline::in(patience);
  Mutex mutex_;
  Condition opened_;
  bool open_ GUARDED_BY(mutex_) = false;
  int waiting_ GUARDED_BY(mutex_) = 0;
};

/// Holds whoever comes until the test lets so many through.
class PoolTurnstile {
 public:
  void pass() EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    ++waiting_;
    while (tickets_ == 0 && !open_ && !given_up_.passed()) changed_.wait_until(mutex_, given_up_.at);
    if (tickets_ > 0) --tickets_;
    --waiting_;
  }
  void let_through(int count) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    tickets_ += count;
    changed_.notify_all();
  }
  void set_open(bool open) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    open_ = open;
    changed_.notify_all();
  }
  bool holds(int count) EXCLUDES(mutex_) {
    return eventually([&] {
      MutexLock lock(mutex_);
      return waiting_ == count && tickets_ == 0;
    });
  }

 private:
  const Deadline given_up_ = Deadline::in(patience);
  Mutex mutex_;
  Condition changed_;
  bool open_ GUARDED_BY(mutex_) = false;
  int tickets_ GUARDED_BY(mutex_) = 0;
  int waiting_ GUARDED_BY(mutex_) = 0;
};

inline int threads_of_this_process() {
  int count = 0;
  DIR* const folder = ::opendir("/proc/self/task");
  while (const auto* entry = ::readdir(folder)) count += entry->d_name[0] != '.';
  ::closedir(folder);
  return count;
}

/// Whether a thread of this process, by its number, waits for something.
inline bool thread_sleeps(int thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
  std::string text;
  std::getline(file, text);
  const auto name_end = text.rfind(')');
  return name_end != std::string::npos && text.compare(name_end, 3, ") S") == 0;
}

inline PoolOptions pool_options(unsigned workers, std::size_t queue) {
  PoolOptions options;
  options.name = "test";
  options.workers = workers;
  options.queue = queue;
  options.idle = std::chrono::hours(1);
  return options;
}

/// Lets the pool learn that jobs take next to nothing, so that workers claim many at once.
inline void learn_short_jobs(WorkerPool& pool) {
  for (int round = 0; round < 200; ++round) {
    for (int i = 0; i < 64; ++i) REQUIRE(pool.submit([] {}));
    pool.wait_idle();
  }
}

}  // namespace laneway
