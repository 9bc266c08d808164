// The threads of a pool, of this one and of the lane's (lib/pool): started on demand, parked, woken and
// ended. The thread that parked last is woken first, so that the same few stay warm and the others become
// idle.
//
// A thread is counted once it exists, so nobody relies on a thread that the system then refuses. A thread
// that ends is joined by the next one that ends, or by the owner: starting one must not wait for what a
// user's thread_local objects do at the end of another. At the end of their owner, the threads end side by
// side.
//
// Ownership: owns the threads, which never move in memory; what they run, and the state, are the owner's.
// Threads: guarded by the owner's mutex. Nothing blocks.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "worker_pool/thread_counts.h"

namespace laneway::worker_pool {

struct Thread {
  std::uint32_t number = 0;
  Condition wake;
  bool woken = false;  ///< by another thread, or just started to search
  std::thread thread;
};

class Threads {
 public:
  /// Each thread calls `run`, which takes the owner's mutex first, and ends after leave().
  Threads(std::function<void(Thread&)> run, ThreadState& state) : run_(std::move(run)), state_(state) {}

  /// Starts a thread and counts it, also as searching or parked (`as`). Null if the system refuses it.
  Thread* start(std::uint64_t as);
  /// Counts the thread that parked last as searching, to be notified by the caller. Null if none is parked.
  Thread* wake_last();
  /// The thread sleeps; `was`: searching, or 0.
  void park(Thread& self, std::uint64_t was);
  /// The parked thread is woken only when no other one is parked.
  void keep_asleep(Thread& thread);
  /// The thread is no longer parked; `as`: searching, or 0.
  void unpark(Thread& thread, std::uint64_t as);
  /// The thread ends; the caller has taken it out of the counts. `ending`: the owner ends, and joins it.
  void leave(Thread& self, bool ending);
  /// Joining these threads joins all that have left.
  std::vector<std::thread> take_left() { return std::exchange(left_, {}); }

  const std::vector<Thread*>& parked() const { return parked_; }

 private:
  const std::function<void(Thread&)> run_;
  ThreadState& state_;
  std::deque<Thread> threads_;
  std::vector<Thread*> unstarted_;
  std::vector<Thread*> parked_;    ///< the last one is woken first
  std::vector<std::thread> left_;  ///< at most one before the end of the owner
};

}  // namespace laneway::worker_pool
