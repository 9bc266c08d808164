// The threads of a pool. Every worker is unstarted, parked or awake; an awake worker is on its way to the
// queue (searching) or running a claim. Threads start on demand; the worker that parked last is woken first.
//
// Ownership: owns the workers, which never move in memory; what the threads run is the pool's. Threads:
// guarded by the pool's mutex, which sleep() releases while it waits. Nothing blocks except sleep, up to the
// idle time, and join.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/time.h"

namespace laneway::pool {

struct Worker {
  std::thread thread;
  Condition wake;
  bool woken = false;  // woken or started by another thread, and not arrived yet
};

class Workers {
 public:
  /// Each thread calls `run` with its worker, and ends when `run` returns, after leave().
  Workers(std::function<void(Worker&)> run, Duration idle) : run_(std::move(run)), idle_(idle) {}

  std::uint32_t threads() const { return threads_; }  ///< parked or awake
  std::uint32_t awake() const { return awake_; }
  std::uint32_t searching() const { return searching_; }
  std::uint64_t start_failures() const { return start_failures_; }

  /// Wakes or starts a worker if there are fewer than `most` threads. Returns the worker to notify after the
  /// lock is released; null if a thread was started, or if no worker is available.
  Worker* wake_one(std::uint32_t most);
  void wake_all();
  bool start(std::uint32_t most);
  /// After a failure no thread is started until this is called.
  void allow_starts() { start_failed_ = false; }

  /// The following are called by the worker's own thread.
  void arrive(Worker& self);
  void park(Worker& self);
  /// Returns true if woken, and false if the idle time has passed.
  bool sleep(Worker& self, Mutex& mutex) REQUIRES(mutex);
  /// The thread ends. `parked`: it is parked, otherwise awake.
  void leave(Worker& self, bool parked);

  /// Waits for the ends of threads that have left.
  void join();

 private:
  const std::function<void(Worker&)> run_;
  const Duration idle_;
  std::deque<Worker> workers_;
  std::vector<Worker*> unstarted_;
  std::vector<Worker*> parked_;  // the last element parked last
  std::uint32_t threads_ = 0;
  std::uint32_t awake_ = 0;
  std::uint32_t searching_ = 0;
  std::uint64_t start_failures_ = 0;
  bool start_failed_ = false;
};

}  // namespace laneway::pool
