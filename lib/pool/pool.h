// A bounded worker pool: at most `workers` jobs running and `queue` jobs waiting; jobs beyond that are
// refused at once.
//
// Ownership: batches belong to the submitter; Work must outlive the pool. Threads: one producer thread calls
// try_submit, notify_at, resize, withdraw, tick, close and join; any thread may call finish, cancel,
// drained, limits and snapshot. Nothing blocks except join and the destructor (which joins). Workers start on
// demand and end after `idle` without work.
//
// Admission counts unfinished jobs: submit accepts while outstanding < workers + queue. While every worker is
// occupied, exactly workers + queue jobs are accepted, and the next is refused as full, however the claims
// were cut. A sequential batch counts as one job, because it never occupies more than one worker: the jobs of
// one key take no room away from other keys. Jobs whose turn is not in order (Batch::turn) are accepted
// without room, and take none: they do not wait behind a queue that new jobs always fill.
//
// Claims: a worker takes as many jobs at once as it should finish in about `claim_time`, by the measured
// service time (hundreds of microsecond jobs, slow jobs one by one). So the cost of a hand-off is per claim,
// and slow jobs delay no others. If a claim lasts longer all the same, because jobs have become slow or one
// hangs, it is wanted back: the claim ends with the running job. Until then it is overdue: the submitter
// takes the jobs that are answered or have not begun out of it (leave_early), and submits the latter again.
// With Limits::whole_claims a claim takes all waiting jobs instead. Wake-ups: a worker is woken only if the
// queued work would otherwise wait longer than a wake-up costs; tick() corrects an estimate that was wrong.
// The worker that parked last is woken first, so that the same few workers stay warm and the others become
// idle.
//
// Asynchronous work: a claim occupies one of `workers` slots from its start to its finish(), even after the
// thread that ran it has moved on. So `workers` bounds the claims in flight, and fewer threads may serve
// them. With Limits::asynchronous there are no threads at all: the caller that submits a job or finishes a
// claim runs the claims, because running only passes them on.
//
// Permits (permits.h): with Limits::permits, each claim also needs one of the permits that several pools
// share. A stuck claim holds none. Pools can also lend each other slots and workers: help.h.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "base/histogram.h"
#include "base/mutex.h"
#include "base/time.h"
#include "pool/batch.h"
#include "pool/own_share.h"
#include "pool/permit_use.h"
#include "pool/permits.h"
#include "pool/worker_slots.h"
#include "worker_pool/job_time.h"
#include "worker_pool/threads.h"

namespace laneway::pool {

/// A claim has as many jobs as take about this long, and at most `largest_claim`.
inline constexpr Duration claim_time = microseconds(50);
inline constexpr std::uint32_t largest_claim = 256;

struct Limits {
  std::uint32_t workers = 8;
  std::uint32_t queue = 256;
  /// The maximum number of jobs in one claim, except for a sequential batch, which is claimed whole. With 1,
  /// `workers` is an exact bound on the running jobs even if claims outlive the thread that ran them.
  std::uint32_t most_per_claim = largest_claim;
  /// The stop of a job that runs longer is requested (at the granularity of the tick() calls).
  Duration job_deadline = seconds(30);
  /// A job that still runs this long after its stop was requested is stuck: until it returns, a slot and a
  /// thread are added to replace it; for at most `workers` or 64 jobs at a time.
  Duration stuck_after = seconds(10);
  /// A worker that is without work for this long ends its thread.
  Duration idle = seconds(5);
  /// Work::run never blocks: it is called inside try_submit() and finish(), one call at a time.
  bool asynchronous = false;
  /// A claim takes all waiting jobs, up to most_per_claim, however long jobs take: for work that does all its
  /// jobs at once.
  bool whole_claims = false;
  /// Each claim needs one of these permits, which other pools share. Null: no common limit. They must outlive
  /// the pool.
  Permits* permits = nullptr;
  /// Jobs that have waited longer in this pool go before the jobs of the pools that it helps, for a share of
  /// the time of its slots (help.h).
  Duration longest_wait = Duration::max();
};

/// `most` of try_submit(): every job that is left.
inline constexpr std::uint32_t all_jobs = UINT32_MAX;

enum class Admission : std::uint8_t { accepted, full, closed };

struct Submitted {
  /// The number of accepted jobs, from the front; the caller keeps the rest.
  std::uint32_t taken = 0;
  /// accepted if all jobs were accepted; otherwise full or closed, the reason. The answer is also full if
  /// there is no thread and none can be started (see Snapshot::start_failures): try again later.
  Admission admission = Admission::accepted;
};

/// The counts at one moment, consistent enough for metrics.
struct Snapshot {
  std::uint32_t queued = 0;
  std::uint32_t in_flight = 0;  ///< claimed and not finished
  std::uint32_t free = 0;       ///< claims that may begin in addition to those in flight
  std::uint32_t threads = 0;
  std::uint32_t active = 0;          ///< running threads
  Duration service_time{};           ///< measured average of one job; zero before the first
  std::uint64_t expired = 0;         ///< jobs whose deadline passed
  std::uint32_t stuck = 0;           ///< running claims with a stuck job
  std::uint64_t start_failures = 0;  ///< threads that the system refused
  std::uint32_t lent = 0;            ///< slots of this pool that run claims of the pools that it helps
  std::uint32_t borrowed = 0;        ///< claims of this pool on slots of its helpers
  Duration oldest{};                 ///< how long the oldest queued job has waited; zero without one
};

class Pool final : private Permits::Waiter, private Lender {
 public:
  /// `on_room` is called when a threshold set by notify_at is reached, on the thread that finishes or
  /// withdraws the job, or that calls notify_at. The caller holds no lock of the pool. `on_room` must be
  /// brief, and must not be empty. `limits.workers` must not be 0.
  Pool(Limits limits, Work& work, std::function<void()> on_room);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// Offers jobs [begin, batch.size), or the first `most` of them. A sequential batch is accepted whole, as
  /// one job, or not at all; `most` is not used then.
  Submitted try_submit(Batch& batch, std::uint32_t begin = 0, std::uint32_t most = all_jobs) EXCLUDES(mutex_);

  /// Arms one call of on_room for the moment when at most `outstanding` jobs are unfinished, counted as in
  /// admission. Calls at once if that is already so, except from an empty pool that has no thread: there the
  /// submitter must try again by its clock.
  void notify_at(std::uint32_t outstanding) EXCLUDES(mutex_);

  /// Replaces the limits; takes effect immediately. Accepted jobs stay: with fewer workers, the excess claims
  /// finish first, then their slots and threads go; with a shorter queue, no job is accepted until the
  /// unfinished jobs fit. `workers` must not be 0. An armed call of on_room stays armed.
  void resize(std::uint32_t workers, std::uint32_t queue) EXCLUDES(mutex_);

  /// The jobs of this claim are done, or will be submitted again: their slots are free. Call exactly once per
  /// claim, from any thread, as the last use of the claim: its slot may immediately belong to another claim.
  /// Without `ran`, every job has run.
  void finish(const Claim& claim, Ran ran) EXCLUDES(mutex_);
  void finish(const Claim& claim) { finish(claim, {claim.range.count(), claim.range.count()}); }

  /// Called on the producer's tick. Requests the stop of jobs past their deadline, and wants back the jobs
  /// that have not begun of claims that last longer than longest_claim. A job's time counts from
  /// the first call that saw it running; for the first job of a claim, from the claim's start. Returns the
  /// jobs that are found stuck, each once.
  ///
  /// If queued work has not moved since the last call although a slot is free, forgets the service time
  /// (which must be wrong) and wakes a worker. Allows threads to be started again after a failure.
  std::vector<Range> tick(TimePoint now) EXCLUDES(mutex_);

  /// Ends submissions: later calls of try_submit return closed.
  void close() EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    closed_ = true;
  }
  /// Takes back the unclaimed jobs beyond the first `keep` queued jobs: those that would begin last, first.
  /// Returns them in the order of their turns and their submission.
  std::vector<Range> withdraw(std::uint32_t keep) EXCLUDES(mutex_);
  /// Wants back the jobs of every running claim that have not begun.
  void want_back() EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    slots_.want_all_back();
  }
  /// Calls want_back(), and requests the stop of all running jobs, now and later.
  void cancel() EXCLUDES(mutex_);
  /// The claims of several jobs that were wanted back and still run. The submitter may take their answered
  /// jobs, and those that have not begun; leave_early() follows. Each claim keeps a job that is running.
  std::vector<Overdue> overdue() EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return slots_.overdue();
  }
  /// `jobs` of an overdue claim have left it: their places are free. Does nothing if the claim has finished.
  void leave_early(const Claim& claim, std::uint32_t jobs) EXCLUDES(mutex_);
  /// The jobs that are not answered, for reporting those that are given up. Of a claim whose jobs run one
  /// after the other, only the running one.
  std::vector<Range> in_flight() const EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return slots_.in_flight();
  }

  /// Whether no job is queued or in flight.
  bool drained() const EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return outstanding_ == 0;
  }
  Snapshot snapshot() const EXCLUDES(mutex_);
  Limits limits() const EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return limits_;
  }
  /// The time from submission to the claim, per job.
  const Histogram& queue_wait() const { return queue_wait_; }
  /// The time from the start of a claim to its finish, divided by the jobs that ran.
  const Histogram& duration() const { return duration_; }

  /// Closes the pool, lets the threads finish the queued jobs, and waits until no thread is left and every
  /// claim is finished. Returns false if that is not so at the deadline. After false the pool must live on,
  /// because its threads use it; join may be called again.
  bool join(Deadline deadline) EXCLUDES(mutex_);

  friend void help(Pool& helper, const std::vector<Pool*>& helped);  // help.h

 private:
  using Thread = worker_pool::Thread;
  using ThreadCounts = worker_pool::ThreadCounts;

  /// What a thread does next for this pool.
  struct Next {
    Thread* wake = nullptr;  // to notify first
    std::optional<Claim> claim;
    Pool* borrower = nullptr;  // a slot has been lent to this pool
    bool errand = false;       // because the borrower called
    bool call = false;         // call the helpers
  };
  void next_to_work(TimePoint now, Next& next) REQUIRES(mutex_);
  void set_to_work(const Next& next) EXCLUDES(mutex_);
  bool choose(TimePoint now, Next& next) REQUIRES(mutex_);
  Claim take_claim(TimePoint now, Lender* lender = nullptr) REQUIRES(mutex_);
  void end_signalling() EXCLUDES(mutex_);

  // asynchronous
  void begin_to_pass_on(TimePoint now, Next& next) REQUIRES(mutex_);
  bool pass_on(Next next) EXCLUDES(mutex_);

  // on the pool's threads
  void run_claims(Thread& self) EXCLUDES(mutex_);
  bool sleep(Thread& self) REQUIRES(mutex_);
  Thread* wake_one() REQUIRES(mutex_);
  void wake_all() REQUIRES(mutex_);

  void permitted() override EXCLUDES(mutex_);
  std::uint32_t coming() const REQUIRES(mutex_);
  void give_back_unused_permits(std::uint32_t leaving, Permitted& to) REQUIRES(mutex_);
  void stop_waiting_in_vain() REQUIRES(mutex_);

  // as a helper
  /// Ends the relations with the other pools. After join() only.
  void detach() EXCLUDES(mutex_);
  void loan_stuck() override EXCLUDES(mutex_);
  void loan_ended(bool stuck) override EXCLUDES(mutex_);
  bool choose_with_helping(TimePoint now, Next& next) REQUIRES(mutex_);
  Pool* lend_to_next(TimePoint now) REQUIRES(mutex_);
  void serve(Pool& borrower, bool errand) EXCLUDES(mutex_);
  bool lend() EXCLUDES(mutex_);
  bool take_errand(Pool& borrower) EXCLUDES(mutex_);
  bool may_lend(TimePoint now) REQUIRES(mutex_);
  bool own_first(TimePoint now) REQUIRES(mutex_);
  void begun(const Claim& claim, bool before_helped, TimePoint now) REQUIRES(mutex_);
  bool somebody_wants_help() const REQUIRES(mutex_);
  // as a borrower
  bool calls_for_help() REQUIRES(mutex_);
  void call_helpers() EXCLUDES(mutex_);
  struct Served {
    bool ran = false;
    bool call = false;  // call the helpers
  };
  Served run_on_loan(Pool& lender, bool errand) EXCLUDES(mutex_);
  void end_visit() EXCLUDES(mutex_);

  /// The weight of a range against the limits: a sequential range occupies at most one worker at a time, and
  /// only jobs that are in order need room.
  static std::uint32_t weight(const Range& range) {
    if (range.batch->turn != Turn::in_order) return 0;
    return range.batch->sequential ? 1 : range.count();
  }
  bool take_notification() REQUIRES(mutex_);
  TimePoint oldest() const REQUIRES(mutex_);
  bool claimable() const REQUIRES(mutex_) { return queued_ > 0 && slots_.counts().free > 0; }
  /// Workers on their way to this pool's own queue.
  std::uint32_t searching() const REQUIRES(mutex_) {
    const auto all = thread_state_.counts().searchers();
    return all - std::min(all, static_cast<std::uint32_t>(errands_.size()));
  }
  bool ended() const REQUIRES(mutex_) {
    return ending_ && thread_state_.counts().threads() == 0 && outstanding_ == 0 && signalling_ == 0 &&
           slots_.counts().lent == 0 && visitors_ == 0 && !(permits_ && permits_->waiting());
  }

  Histogram queue_wait_;
  Histogram duration_;

  // Constant after construction.
  Work& work_;
  const std::function<void()> on_room_;
  const bool asynchronous_;

  mutable Mutex mutex_;
  Condition ended_;
  Limits limits_ GUARDED_BY(mutex_);
  WorkerSlots slots_ GUARDED_BY(mutex_);
  // The accepted jobs that no worker has claimed yet.
  struct Entry {
    Range range;
    TimePoint submitted;
  };
  using Queue = std::deque<Entry>;
  std::array<Queue, 3> queues_ GUARDED_BY(mutex_);  // in the order of Turn
  bool in_order_next_ GUARDED_BY(mutex_) = false;   // the last claim was of alternating jobs
  std::uint32_t queued_ GUARDED_BY(mutex_) = 0;
  std::uint64_t outstanding_ GUARDED_BY(mutex_) = 0;
  std::uint64_t admitted_ GUARDED_BY(mutex_) = 0;  // the weight of the outstanding jobs
  worker_pool::JobTime job_time_ GUARDED_BY(mutex_){microseconds(10), false};
  std::optional<std::uint32_t> notify_at_ GUARDED_BY(mutex_);
  std::uint64_t claims_ GUARDED_BY(mutex_) = 0;
  std::uint64_t claims_at_tick_ GUARDED_BY(mutex_) = 0;
  bool passing_on_ GUARDED_BY(mutex_) = false;  // asynchronous: a thread runs the claimable jobs
  bool closed_ GUARDED_BY(mutex_) = false;
  bool ending_ GUARDED_BY(mutex_) = false;
  // threads that still use the pool without the lock
  std::uint32_t signalling_ GUARDED_BY(mutex_) = 0;
  std::optional<PermitUse> permits_ GUARDED_BY(mutex_);  // empty if Limits::permits is null
  worker_pool::ThreadState thread_state_;                // changed under the lock
  worker_pool::Threads threads_ GUARDED_BY(mutex_);

  // The pools of the group. Each is alive while it is in one of these lists: it takes itself out at its end.
  struct Helper {
    Pool* pool;
    std::size_t rank;  // this pool's place in the helper's list
  };
  std::vector<Pool*> helps_ GUARDED_BY(mutex_);
  std::vector<Helper> helpers_ GUARDED_BY(mutex_);  // the nearest first
  OwnShare own_share_ GUARDED_BY(mutex_);
  // Since when own jobs have waited too long, and none has begun except before helped jobs. Ends when the
  // queue is empty.
  std::optional<TimePoint> overdue_since_ GUARDED_BY(mutex_);
  // Since when a slot has been kept from the helped pools, for an own job that goes first and has no permit.
  std::optional<TimePoint> kept_since_ GUARDED_BY(mutex_);
  std::vector<Pool*> errands_ GUARDED_BY(mutex_);        // called for help; a slot is lent already
  std::uint32_t errands_coming_ GUARDED_BY(mutex_) = 0;  // helpers that are on their way to this pool
  // A helper whose slot becomes free should look at this pool. Set under the lock before the helpers are
  // called; a hint for those that come too late for the call.
  std::atomic<bool> wants_help_{false};
  // Threads of other pools that use this pool. Raised under the lock of the pool that they come from, where
  // this pool is in one of the lists.
  std::atomic<std::uint32_t> visitors_{0};
};

}  // namespace laneway::pool
