// The inside of the pool; only pool.cpp includes it. See pool.h for what it promises.
#pragma once

#include <algorithm>
#include <deque>
#include <optional>
#include <thread>

#include "base/mutex.h"
#include "pool/place.h"
#include "pool/pool.h"
#include "pool/service_time.h"

namespace laneway::pool {

class Pool::Implementation {
 public:
  Implementation(const Limits& given, Work& work, std::function<void()> on_room)
      : limits(given),
        work_(work),
        on_room_(std::move(on_room)),
        places_(given.workers + most_replaced(given)),
        workers_(places_.size()) {
    for (Place& place : places_) (free_.size() < given.workers ? free_ : spare_).push_back(&place);
    for (Worker& worker : workers_) unstarted_.push_back(&worker);
  }

  Submitted try_submit(Batch& batch, std::uint32_t begin) EXCLUDES(mutex_);
  void notify_at(std::uint32_t outstanding) EXCLUDES(mutex_);
  void finish(const Claim& claim) EXCLUDES(mutex_);
  std::vector<Range> expire(TimePoint now) EXCLUDES(mutex_);
  void kick() EXCLUDES(mutex_);
  std::vector<Range> withdraw(std::uint32_t keep) EXCLUDES(mutex_);
  void cancel();
  std::vector<Range> in_flight() const EXCLUDES(mutex_);
  bool join(Deadline deadline) EXCLUDES(mutex_);
  Snapshot snapshot() const EXCLUDES(mutex_);

  void close() EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    closed_ = true;
  }
  bool drained() const EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return outstanding_ == 0;
  }

  const Limits limits;
  Histogram queue_wait;
  Histogram duration;

 private:
  struct Worker {
    std::thread thread;
    Condition wake;
    bool woken = false;  // woken or started by another, and not arrived yet
  };

  static std::uint32_t most_replaced(const Limits& limits) {
    return std::min<std::uint32_t>(limits.workers, 64);
  }

  struct Entry {
    Range range;
    TimePoint submitted;
  };

  std::optional<Claim> begin_to_pass_on(TimePoint now) REQUIRES(mutex_);
  void pass_on(Claim claim) EXCLUDES(mutex_);

  void run_claims(Worker& self) EXCLUDES(mutex_);
  std::optional<Claim> next_claim(Worker& self) EXCLUDES(mutex_);
  Claim take_claim(TimePoint now) REQUIRES(mutex_);
  bool park(Worker& self) REQUIRES(mutex_);
  void arrive(Worker& self) REQUIRES(mutex_);
  void leave(Worker& self) REQUIRES(mutex_);

  Worker* wake_if_wanted() REQUIRES(mutex_);
  Worker* wake_one() REQUIRES(mutex_);
  void wake_all() REQUIRES(mutex_);
  bool start_worker() REQUIRES(mutex_);

  std::uint32_t room_for(std::uint32_t jobs, bool sequential) const REQUIRES(mutex_);
  bool take_notification() REQUIRES(mutex_);
  void replace(Place& place) REQUIRES(mutex_);
  void give_back(Place& place) REQUIRES(mutex_);
  bool claimable() const REQUIRES(mutex_) { return queued_ > 0 && !free_.empty(); }
  bool ended() const REQUIRES(mutex_) {
    return ending_ && threads_ == 0 && outstanding_ == 0 && signalling_ == 0;
  }

  // Constant after construction.
  Work& work_;
  const std::function<void()> on_room_;

  mutable Mutex mutex_;
  Condition ended_;
  std::vector<Place> places_;  // elements: see Place; the vector never changes
  std::vector<Place*> free_ GUARDED_BY(mutex_);
  std::vector<Place*> spare_ GUARDED_BY(mutex_);  // for those of stuck jobs
  std::uint32_t stuck_ GUARDED_BY(mutex_) = 0;
  std::uint32_t replaced_ GUARDED_BY(mutex_) = 0;
  std::deque<Entry> queue_ GUARDED_BY(mutex_);
  std::uint32_t queued_ GUARDED_BY(mutex_) = 0;
  std::uint64_t outstanding_ GUARDED_BY(mutex_) = 0;
  ServiceTime service_time_ GUARDED_BY(mutex_);
  std::optional<std::uint32_t> notify_at_ GUARDED_BY(mutex_);
  std::uint64_t claims_ GUARDED_BY(mutex_) = 0;
  std::uint64_t claims_at_kick_ GUARDED_BY(mutex_) = 0;
  std::uint64_t expired_ GUARDED_BY(mutex_) = 0;
  std::uint64_t start_failures_ GUARDED_BY(mutex_) = 0;
  bool start_failed_ GUARDED_BY(mutex_) = false;  // no more attempts until the producer's next
  bool passing_on_ GUARDED_BY(mutex_) = false;    // asynchronous: somebody runs what can be claimed
  bool closed_ GUARDED_BY(mutex_) = false;
  bool ending_ GUARDED_BY(mutex_) = false;
  std::uint32_t signalling_ GUARDED_BY(mutex_) = 0;  // finishers that still use the pool without the lock

  // Every worker is unstarted, parked or awake; an awake one is on its way to the queue (searching) or at
  // work.
  std::vector<Worker> workers_ GUARDED_BY(mutex_);
  std::vector<Worker*> unstarted_ GUARDED_BY(mutex_);
  std::vector<Worker*> parked_ GUARDED_BY(mutex_);  // the last one parked last
  std::uint32_t threads_ GUARDED_BY(mutex_) = 0;    // parked or awake
  std::uint32_t awake_ GUARDED_BY(mutex_) = 0;
  std::uint32_t searching_ GUARDED_BY(mutex_) = 0;
};

}  // namespace laneway::pool
