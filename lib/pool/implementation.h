// The implementation of the pool; only the sources of this folder include it. See pool.h for the contract.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "base/mutex.h"
#include "pool/job_queues.h"
#include "pool/permit_use.h"
#include "pool/pool.h"
#include "pool/service_time.h"
#include "pool/worker_slots.h"
#include "pool/workers.h"

namespace laneway::pool {

class Pool::Implementation final : private Permits::Waiter {
 public:
  Implementation(const Limits& limits, Work& work, std::function<void()> on_room)
      : work_(work),
        on_room_(std::move(on_room)),
        asynchronous_(limits.asynchronous),
        limits_(limits),
        slots_(limits.workers, limits.job_deadline, limits.stuck_after),
        permits_(limits.permits, *this),
        workers_([this](Worker& self) { run_claims(self); }, limits.idle) {}

  Submitted try_submit(Batch& batch, std::uint32_t begin) EXCLUDES(mutex_);
  void notify_at(std::uint32_t outstanding) EXCLUDES(mutex_);
  void resize(std::uint32_t workers, std::uint32_t queue) EXCLUDES(mutex_);
  void finish(const Claim& claim, Ran ran) EXCLUDES(mutex_);
  std::vector<Range> expire(TimePoint now) EXCLUDES(mutex_);
  void kick() EXCLUDES(mutex_);
  std::vector<Range> withdraw(std::uint32_t keep) EXCLUDES(mutex_);
  void want_back() EXCLUDES(mutex_);
  void cancel() EXCLUDES(mutex_);
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

  Limits limits() const EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return limits_;
  }

  Histogram queue_wait;
  Histogram duration;

 private:
  std::optional<Claim> begin_to_pass_on(TimePoint now) REQUIRES(mutex_);
  void pass_on(Claim claim) EXCLUDES(mutex_);

  void run_claims(Worker& self) EXCLUDES(mutex_);
  std::optional<Claim> next_claim(Worker& self) EXCLUDES(mutex_);
  struct Found {
    std::optional<Claim> claim;
    Worker* wake = nullptr;  // to notify
    Permitted permitted;
    bool end = false;  // the thread must end
  };
  Found find_claim(Worker& self, TimePoint now) REQUIRES(mutex_);
  Claim take_claim(TimePoint now) REQUIRES(mutex_);
  bool park(Worker& self) REQUIRES(mutex_);
  void leave(Worker& self, bool parked) REQUIRES(mutex_);

  Worker* wake_if_wanted() REQUIRES(mutex_);

  void permitted() override EXCLUDES(mutex_);
  std::uint32_t coming() const REQUIRES(mutex_);
  void give_back_unused_permits(std::uint32_t leaving, Permitted& to) REQUIRES(mutex_);
  void stop_waiting_in_vain() REQUIRES(mutex_);

  /// The next runner of claimable jobs: a thread to wake or, if asynchronous, the caller itself.
  struct Next {
    Worker* wake = nullptr;
    std::optional<Claim> claim;
  };
  Next next_to_work(TimePoint now) REQUIRES(mutex_);
  void set_to_work(const Next& next) EXCLUDES(mutex_);
  bool too_many_threads() const REQUIRES(mutex_) { return workers_.threads() > slots_.most(); }

  /// The weight of a range against the limits: a sequential range occupies at most one worker at a time, and
  /// only jobs that are in order need room.
  static std::uint32_t weight(const Range& range) {
    if (range.batch->turn != Turn::in_order) return 0;
    return range.batch->sequential ? 1 : range.count();
  }
  /// How many of these jobs there is room for.
  std::uint32_t admissible(const Batch& batch, std::uint32_t jobs) const REQUIRES(mutex_) {
    if (batch.turn != Turn::in_order) return jobs;
    const std::uint64_t limit = std::uint64_t{slots_.most()} + limits_.queue;
    const auto room = static_cast<std::uint32_t>(limit - std::min(limit, admitted_));
    return batch.sequential && room > 0 ? jobs : std::min(jobs, room);
  }
  bool take_notification() REQUIRES(mutex_);
  bool claimable() const REQUIRES(mutex_) { return queued_ > 0 && slots_.free() > 0; }
  bool ended() const REQUIRES(mutex_) {
    return ending_ && workers_.threads() == 0 && outstanding_ == 0 && signalling_ == 0 && !permits_.waiting();
  }

  // Constant after construction.
  Work& work_;
  const std::function<void()> on_room_;
  const bool asynchronous_;

  mutable Mutex mutex_;
  Condition ended_;
  Limits limits_ GUARDED_BY(mutex_);
  WorkerSlots slots_ GUARDED_BY(mutex_);
  JobQueues queues_ GUARDED_BY(mutex_);
  std::uint32_t queued_ GUARDED_BY(mutex_) = 0;
  std::uint64_t outstanding_ GUARDED_BY(mutex_) = 0;
  std::uint64_t admitted_ GUARDED_BY(mutex_) = 0;  // the weight of the outstanding jobs
  ServiceTime service_time_ GUARDED_BY(mutex_);
  std::optional<std::uint32_t> notify_at_ GUARDED_BY(mutex_);
  std::uint64_t claims_ GUARDED_BY(mutex_) = 0;
  std::uint64_t claims_at_kick_ GUARDED_BY(mutex_) = 0;
  bool passing_on_ GUARDED_BY(mutex_) = false;  // asynchronous: a thread runs the claimable jobs
  bool closed_ GUARDED_BY(mutex_) = false;
  bool ending_ GUARDED_BY(mutex_) = false;
  // threads that still use the pool without the lock
  std::uint32_t signalling_ GUARDED_BY(mutex_) = 0;
  PermitUse permits_ GUARDED_BY(mutex_);
  Workers workers_ GUARDED_BY(mutex_);
};

}  // namespace laneway::pool
