// The implementation of the pool; only the sources of this folder include it. See pool.h for the contract.
#pragma once

#include <algorithm>
#include <atomic>
#include <optional>
#include <vector>

#include "base/mutex.h"
#include "pool/job_queues.h"
#include "pool/permit_use.h"
#include "pool/pool.h"
#include "pool/worker_slots.h"
#include "worker_pool/job_time.h"
#include "worker_pool/threads.h"

namespace laneway::pool {

using worker_pool::Thread;
using worker_pool::ThreadCounts;

class Pool::Implementation final : private Permits::Waiter, private Lender {
 public:
  Implementation(const Limits& limits, Work& work, std::function<void()> on_room)
      : work_(work),
        on_room_(std::move(on_room)),
        asynchronous_(limits.asynchronous),
        limits_(limits),
        slots_(limits.workers, limits.job_deadline, limits.stuck_after),
        permits_(limits.permits, *this),
        threads_([this](Thread& self) { run_claims(self); }, thread_state_) {}

  void help(Implementation& other, std::size_t rank) EXCLUDES(mutex_);
  /// Ends the relations with the other pools. After join() only.
  void detach() EXCLUDES(mutex_);
  Submitted try_submit(Batch& batch, std::uint32_t begin, std::uint32_t most) EXCLUDES(mutex_);
  void notify_at(std::uint32_t outstanding) EXCLUDES(mutex_);
  void resize(std::uint32_t workers, std::uint32_t queue) EXCLUDES(mutex_);
  void finish(const Claim& claim, Ran ran) EXCLUDES(mutex_);
  std::vector<Range> expire(TimePoint now) EXCLUDES(mutex_);
  void kick() EXCLUDES(mutex_);
  std::vector<Range> withdraw(std::uint32_t keep) EXCLUDES(mutex_);
  void want_back() EXCLUDES(mutex_);
  void cancel() EXCLUDES(mutex_);
  std::vector<Range> in_flight() const EXCLUDES(mutex_);
  std::vector<Overdue> overdue() EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return slots_.overdue();
  }
  void leave_early(const Claim& claim, std::uint32_t jobs) EXCLUDES(mutex_);
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
  /// What a thread does next for this pool.
  struct Next {
    Thread* wake = nullptr;  // to notify first
    std::optional<Claim> claim;
    Implementation* borrower = nullptr;  // a slot has been lent to this pool
    bool errand = false;                 // because the borrower called
    bool call = false;                   // call the helpers
  };
  Next next_to_work(TimePoint now) REQUIRES(mutex_);
  void set_to_work(const Next& next) EXCLUDES(mutex_);
  bool choose(TimePoint now, Next& next) REQUIRES(mutex_);
  Claim take_claim(TimePoint now, Lender* lender = nullptr) REQUIRES(mutex_);
  void end_signalling() EXCLUDES(mutex_);

  // asynchronous
  void begin_to_pass_on(TimePoint now, Next& next) REQUIRES(mutex_);
  bool pass_on(Next next) EXCLUDES(mutex_);

  // on the pool's threads
  void run_claims(Thread& self) EXCLUDES(mutex_);
  bool find_work(Thread& self, Next& next) EXCLUDES(mutex_);
  enum class Search : std::uint8_t { found, again, end };
  Search search(Thread& self, TimePoint now, Next& next, Permitted& permitted) REQUIRES(mutex_);
  bool park(Thread& self) REQUIRES(mutex_);
  void arrive(Thread& self) REQUIRES(mutex_);
  void leave(Thread& self) REQUIRES(mutex_);
  bool start_thread() REQUIRES(mutex_);
  Thread* wake_one() REQUIRES(mutex_);
  void wake_all() REQUIRES(mutex_);
  Thread* wake_if_wanted() REQUIRES(mutex_);

  void permitted() override EXCLUDES(mutex_);
  std::uint32_t coming() const REQUIRES(mutex_);
  void give_back_unused_permits(std::uint32_t leaving, Permitted& to) REQUIRES(mutex_);
  void stop_waiting_in_vain() REQUIRES(mutex_);

  // as a helper
  void loan_stuck() override EXCLUDES(mutex_);
  void loan_ended(bool stuck) override EXCLUDES(mutex_);
  bool choose_with_helping(TimePoint now, Next& next) REQUIRES(mutex_);
  Implementation* lend_to_next(TimePoint now) REQUIRES(mutex_);
  void serve(Implementation& borrower, bool errand) EXCLUDES(mutex_);
  bool lend() EXCLUDES(mutex_);
  bool take_errand(Implementation& borrower) EXCLUDES(mutex_);
  bool may_lend(TimePoint now) const REQUIRES(mutex_);
  bool own_first(TimePoint now) const REQUIRES(mutex_) {
    return claimable() && now - queues_.oldest() > limits_.longest_wait;
  }
  bool somebody_wants_help() const REQUIRES(mutex_);
  // as a borrower
  bool calls_for_help() REQUIRES(mutex_);
  void call_helpers() EXCLUDES(mutex_);
  struct Served {
    bool ran = false;
    bool call = false;  // call the helpers
  };
  Served run_on_loan(Implementation& lender, bool errand) EXCLUDES(mutex_);
  void end_visit() EXCLUDES(mutex_);

  bool too_many_threads() const REQUIRES(mutex_) { return threads().threads() > slots_.most(); }
  ThreadCounts threads() const { return thread_state_.counts(); }

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
  /// Workers on their way to this pool's own queue.
  std::uint32_t searching() const REQUIRES(mutex_) {
    const auto all = threads().searchers();
    return all - std::min(all, static_cast<std::uint32_t>(errands_.size()));
  }
  bool ended() const REQUIRES(mutex_) {
    return ending_ && threads().threads() == 0 && outstanding_ == 0 && signalling_ == 0 &&
           slots_.lent() == 0 && visitors_ == 0 && !permits_.waiting();
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
  worker_pool::JobTime job_time_ GUARDED_BY(mutex_){claim_time, largest_claim, microseconds(10), false};
  std::optional<std::uint32_t> notify_at_ GUARDED_BY(mutex_);
  std::uint64_t claims_ GUARDED_BY(mutex_) = 0;
  std::uint64_t claims_at_kick_ GUARDED_BY(mutex_) = 0;
  bool passing_on_ GUARDED_BY(mutex_) = false;  // asynchronous: a thread runs the claimable jobs
  bool closed_ GUARDED_BY(mutex_) = false;
  bool ending_ GUARDED_BY(mutex_) = false;
  // threads that still use the pool without the lock
  std::uint32_t signalling_ GUARDED_BY(mutex_) = 0;
  PermitUse permits_ GUARDED_BY(mutex_);
  worker_pool::ThreadState thread_state_;  // changed under the lock
  worker_pool::Threads threads_ GUARDED_BY(mutex_);

  // The pools of the group. Each is alive while it is in one of these lists: it takes itself out at its end.
  struct Helper {
    Implementation* pool;
    std::size_t rank;  // this pool's place in the helper's list
  };
  std::vector<Implementation*> helps_ GUARDED_BY(mutex_);
  std::vector<Helper> helpers_ GUARDED_BY(mutex_);           // the nearest first
  std::vector<Implementation*> errands_ GUARDED_BY(mutex_);  // called for help; a slot is lent already
  std::uint32_t errands_coming_ GUARDED_BY(mutex_) = 0;      // helpers that are on their way to this pool
  // A helper whose slot becomes free should look at this pool. Set under the lock before the helpers are
  // called; a hint for those that come too late for the call.
  std::atomic<bool> wants_help_{false};
  // Threads of other pools that use this pool. Raised under the lock of the pool that they come from, where
  // this pool is in one of the lists.
  std::atomic<std::uint32_t> visitors_{0};
};

}  // namespace laneway::pool
