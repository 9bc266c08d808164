// A number of permits that pools share: at most that many claims run at the same time in all of them. For a
// downstream that several lanes use, each with a pool of its own; the number may change at any time, so a
// limit that adapts to the downstream can be built on it.
//
// A pool takes a permit for each claim when it begins the claim, and gives it back when the claim is finished
// or found stuck. If no permit is free, the pool waits in a queue, at most once at a time: each permit that
// becomes free is handed to the pool that has waited longest, and that pool queues again behind the others if
// it wants another one. So every pool makes progress, also with fewer permits than pools, and nobody polls.
// A pool that has nothing to begin keeps no permit and leaves the queue.
//
// Ownership: the permits outlive the pools. Threads: any thread may call any function. Nothing blocks.
// Locks: the order is a pool's mutex, then the mutex of the permits, which is the last of all. A waiter is
// called with neither of them held; an asynchronous pool then begins its claim on the thread that gave the
// permit back or raised the limit. So call set_limit without a lock that Work::run may need.
#pragma once

#include <cstdint>
#include <deque>

#include "base/mutex.h"

namespace laneway::pool {

class Permits {
 public:
  /// One pool, or another user of permits.
  class Waiter {
   public:
    /// A permit has been taken for this waiter, which no longer waits. It must use the permit or give it
    /// back.
    virtual void permitted() = 0;

   protected:
    ~Waiter() = default;
  };

  /// `limit`: at least 1.
  explicit Permits(std::uint32_t limit);
  Permits(const Permits&) = delete;
  Permits& operator=(const Permits&) = delete;

  /// At least 1. Takes effect immediately: a higher limit wakes waiters before this returns; with a lower
  /// limit, no claim begins until enough of them have finished.
  void set_limit(std::uint32_t limit) EXCLUDES(mutex_);
  std::uint32_t limit() const EXCLUDES(mutex_);
  /// Permits that are taken; above limit() for a while after the limit was lowered.
  std::uint32_t in_use() const EXCLUDES(mutex_);
  /// Pools that wait.
  std::uint32_t waiting() const EXCLUDES(mutex_);

  /// Takes a permit. Otherwise the waiter, which must not wait yet, waits until permitted() is called.
  bool take(Waiter& waiter) EXCLUDES(mutex_);
  /// Whether there is a permit to take. Otherwise the waiter waits, as after take().
  bool available(Waiter& waiter) EXCLUDES(mutex_);
  /// Ends the waiting. Returns false if that is too late: permitted() is about to be called.
  bool leave(Waiter& waiter) EXCLUDES(mutex_);
  /// Gives one permit back. Returns the waiter whose permit it is now, or null: the caller calls its
  /// permitted() as soon as it holds no lock.
  [[nodiscard]] Waiter* give_back() EXCLUDES(mutex_);

 private:
  bool free() const REQUIRES(mutex_) { return in_use_ < limit_; }
  Waiter* next_in_turn() REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::uint32_t limit_ GUARDED_BY(mutex_);
  std::uint32_t in_use_ GUARDED_BY(mutex_) = 0;
  std::deque<Waiter*> waiters_ GUARDED_BY(mutex_);  // the first has waited longest
};

}  // namespace laneway::pool
