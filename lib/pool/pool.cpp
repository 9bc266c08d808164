#include "pool/pool.h"

#include <pthread.h>

#include <algorithm>
#include <cassert>
#include <functional>
#include <utility>

namespace laneway::pool {

Pool::Pool(Limits limits, Work& work, std::function<void()> on_room)
    : work_(work),
      on_room_(std::move(on_room)),
      asynchronous_(limits.asynchronous),
      limits_(limits),
      slots_(limits.workers, limits.job_deadline, limits.stuck_after),
      threads_(std::bind_front(&Pool::run_claims, this), thread_state_) {
  if (limits.permits != nullptr) permits_.emplace(*limits.permits, static_cast<Permits::Waiter&>(*this));
}

Pool::~Pool() {
  while (!join(Deadline::in(seconds(60)))) {
  }
  if (!helps_.empty() || !helpers_.empty()) detach();
}

// Admission

Submitted Pool::try_submit(Batch& batch, std::uint32_t begin, std::uint32_t most) {
  std::uint32_t jobs = batch.size > begin ? batch.size - begin : 0;
  if (!batch.sequential) jobs = std::min(jobs, most);
  const TimePoint now = SteadyClock::now();
  std::uint32_t taken = 0;
  Next next;
  {
    MutexLock lock(mutex_);
    if (closed_) return {0, Admission::closed};
    if (jobs == 0) return {0, Admission::accepted};
    const std::uint64_t limit = std::uint64_t{slots_.counts().most} + limits_.queue;
    const auto room = static_cast<std::uint32_t>(limit - std::min(limit, admitted_));
    const bool fits = batch.turn != Turn::in_order || (batch.sequential && room > 0);
    taken = fits ? jobs : std::min(jobs, room);
    if (taken == 0) return {0, Admission::full};
    if (thread_state_.counts().threads() == 0 && !asynchronous_) {
      thread_state_.start_failed = false;
      wake_one();  // starts one
      if (thread_state_.counts().threads() == 0) return {0, Admission::full};
    }
    if (queued_ == 0 && overdue_since_) overdue_since_ = kept_since_ = {};
    const Range range{&batch, begin, begin + taken};
    queues_[static_cast<std::size_t>(batch.turn)].push_back({range, now});
    queued_ += taken;
    outstanding_ += taken;
    admitted_ += weight(range);
    next_to_work(now, next);
  }
  set_to_work(next);
  return {taken, taken == jobs ? Admission::accepted : Admission::full};
}

void Pool::notify_at(std::uint32_t outstanding) {
  {
    MutexLock lock(mutex_);
    notify_at_ = outstanding;
    // No job is accepted and still one was refused: no thread is available, and calling at once would be a
    // busy loop.
    if (thread_state_.counts().threads() == 0 && outstanding_ == 0 && !asynchronous_) return;
    if (!take_notification()) return;
  }
  on_room_();
}

/// Whether to call on_room; the call must be armed.
bool Pool::take_notification() {
  if (admitted_ > *notify_at_) return false;
  notify_at_.reset();
  return true;
}

std::vector<Range> Pool::withdraw(std::uint32_t keep) {
  std::vector<Range> withdrawn;
  bool room = false;
  {
    MutexLock lock(mutex_);
    while (queued_ > keep) {
      auto& [first, alternating, in_order] = queues_;
      auto& queue = !in_order.empty() ? in_order : !alternating.empty() ? alternating : first;
      Range& last = queue.back().range;
      const std::uint32_t jobs = std::min(last.count(), queued_ - keep);
      withdrawn.push_back({last.batch, last.end - jobs, last.end});
      admitted_ -= weight(last);
      last.end -= jobs;
      if (last.count() > 0)
        admitted_ += weight(last);
      else
        queue.pop_back();
      queued_ -= jobs;
      outstanding_ -= jobs;
    }
    if (permits_) stop_waiting_in_vain();
    room = notify_at_ && take_notification();
  }
  std::reverse(withdrawn.begin(), withdrawn.end());
  if (room) on_room_();
  return withdrawn;
}

void Pool::resize(std::uint32_t workers, std::uint32_t queue) {
  Next next;
  {
    MutexLock lock(mutex_);
    limits_.workers = workers;
    limits_.queue = queue;
    slots_.resize(workers);
    if (permits_) stop_waiting_in_vain();
    next_to_work(SteadyClock::now(), next);
  }
  set_to_work(next);
}

// How claims begin and end

/// Which other threads to wake, start or call for the work that is left.
void Pool::next_to_work(TimePoint now, Next& next) {
  if (asynchronous_) {
    begin_to_pass_on(now, next);
  } else if (const auto searching = this->searching(); slots_.counts().free > searching) {
    const std::uint64_t expected = std::uint64_t{searching} * job_time_.jobs_in(claim_time, largest_claim);
    const auto threads = thread_state_.counts().awake();
    const auto awake = threads - std::min(threads, slots_.counts().lent);
    const bool pays = queued_ > expected && job_time_.worth_a_wake_up(queued_ - expected, awake) &&
                      (!permits_ || permits_->in_sight());
    if (pays || (!helps_.empty() && somebody_wants_help())) next.wake = wake_one();
  }
  next.call = !helpers_.empty() && calls_for_help();
}

void Pool::set_to_work(const Next& next) {
  if (next.wake != nullptr) next.wake->wake.notify_one();
  bool call = next.call;
  if (next.claim || next.borrower != nullptr) call = pass_on(next);
  if (call) call_helpers();
}

/// The next claim of a free slot. Returns false if there is nothing to do.
bool Pool::choose(TimePoint now, Next& next) {
  if (!helps_.empty()) return choose_with_helping(now, next);
  if (!claimable() || (permits_ && !permits_->obtain())) return false;
  next.claim = take_claim(now);
  return true;
}

Claim Pool::take_claim(TimePoint now, Lender* lender) {
  auto& [first, alternating, in_order] = queues_;
  if (first.empty()) in_order_next_ = !alternating.empty() && (in_order.empty() || !in_order_next_);
  auto& queue = !first.empty() ? first : in_order_next_ ? alternating : in_order;
  auto& entry = queue.front();
  Range range = entry.range;
  const std::uint32_t timely =
      limits_.whole_claims ? limits_.most_per_claim : job_time_.jobs_in(claim_time, largest_claim);
  if (!range.batch->sequential)
    range.end = range.begin + std::min({range.count(), timely, limits_.most_per_claim});
  const std::uint32_t jobs = range.count();
  queue_wait_.record(now - entry.submitted, jobs);
  entry.range.begin = range.end;
  if (entry.range.count() == 0) queue.pop_front();
  queued_ -= jobs;
  ++claims_;
  const Claim claim = slots_.take(range, weight(range), permits_.has_value(), now, lender);
  if (permits_) stop_waiting_in_vain();
  return claim;
}

void Pool::finish(const Claim& claim, Ran ran) {
  auto& slot = static_cast<WorkerSlot&>(*claim.slot);
  const TimePoint now = SteadyClock::now();
  const Duration took = now - slot.started;
  if (ran.attempts > 0) duration_.record(took / ran.attempts, ran.attempts);
  Next next;
  Permitted permitted;
  Lender* lender = nullptr;
  bool stuck = false;
  bool room = false;
  {
    MutexLock lock(mutex_);
    assert(slot.in_use && slot.first_ticket == claim.first_ticket);
    if (ran.typical > 0) job_time_.record(took, ran.typical);
    outstanding_ -= claim.range.count() - slot.left;
    admitted_ -= slot.weight;
    lender = slot.lender;
    stuck = slot.stuck;
    if (slot.permit) permits_->give_back(permitted);
    if (slot.own_share) own_share_.end(now, limits_.workers);
    slots_.give_back(slot);
    if (lender != nullptr) wants_help_ = queued_ > 0;  // the lender sees it when the loan has ended
    // The work may have waited for a slot, and not for a thread.
    if (asynchronous_ || slots_.counts().free == 1) next_to_work(now, next);
    room = notify_at_ && take_notification();
    if (!next.wake && !next.claim && !next.borrower && !next.call && !room && !lender && permitted.empty()) {
      if (ended()) ended_.notify_all();
      return;
    }
    ++signalling_;
  }
  for (auto* waiter : permitted) waiter->permitted();
  if (lender != nullptr) lender->loan_ended(stuck);
  if (room) on_room_();
  set_to_work(next);
  end_signalling();
}

void Pool::leave_early(const Claim& claim, std::uint32_t jobs) {
  {
    MutexLock lock(mutex_);
    auto& slot = static_cast<WorkerSlot&>(*claim.slot);
    if (!slot.in_use || slot.first_ticket != claim.first_ticket) return;
    slot.left += jobs;
    outstanding_ -= jobs;
    const auto weight = claim.range.batch->sequential ? 0 : std::min(slot.weight, jobs);
    slot.weight -= weight;
    admitted_ -= weight;
    if (!notify_at_ || !take_notification()) return;
  }
  on_room_();
}

void Pool::end_signalling() {
  MutexLock lock(mutex_);
  --signalling_;
  if (ended()) ended_.notify_all();
}

// Workers

/// A worker takes a claim, or sleeps until there is one, and runs it; and so on until it must end.
void Pool::run_claims(Thread& self) {
  ::pthread_setname_np(::pthread_self(), "worker");  // for top -H and debuggers
  for (;;) {
    TimePoint now = SteadyClock::now();
    Next next;
    Permitted permitted;
    bool found = false;
    {
      MutexLock lock(mutex_);
      for (;; now = SteadyClock::now()) {
        if (std::exchange(self.woken, false)) thread_state_.word -= ThreadCounts::searching;
        found = choose(now, next);
        if (permits_ && !next.claim) give_back_unused_permits(found ? 0 : 1, permitted);
        if (found || !permitted.empty()) break;
        if (!sleep(self)) return;
      }
      if (found) {
        if (ending_ && queued_ == 0) wake_all();
        next_to_work(now, next);
      }
    }
    if (next.wake != nullptr) next.wake->wake.notify_one();
    for (auto* waiter : permitted) waiter->permitted();
    if (next.call) call_helpers();
    if (next.borrower != nullptr)
      serve(*next.borrower, next.errand);
    else if (found)
      work_.run(*next.claim);
  }
}

/// Returns when the thread is woken, or false if it must end.
bool Pool::sleep(Thread& self) {
  bool ends = (ending_ && queued_ == 0) || thread_state_.counts().threads() > slots_.counts().most;
  if (!ends) {
    threads_.park(self, 0);
    for (TimePoint until = SteadyClock::now() + limits_.idle; !self.woken && !ends;) {
      if (self.wake.wait_until(mutex_, until) || self.woken) continue;
      until = SteadyClock::now() + limits_.idle;
      // A thread must be available when a slot becomes free.
      ends = queued_ == 0 || thread_state_.counts().threads() > slots_.counts().most;
    }
    if (!ends) return true;
    threads_.unpark(self, 0);
  }
  thread_state_.word -= ThreadCounts::thread;
  threads_.leave(self, ending_);
  if (ended()) ended_.notify_all();
  return false;
}

/// Returns the thread to notify after the lock is released; null if a thread was started, or none can be.
worker_pool::Thread* Pool::wake_one() {
  if (Thread* const thread = threads_.wake_last()) return thread;
  if (thread_state_.counts().threads() < slots_.counts().most && !thread_state_.start_failed)
    threads_.start(ThreadCounts::searching);
  return nullptr;
}

void Pool::wake_all() {
  while (Thread* thread = threads_.wake_last()) thread->wake.notify_one();
}

// The producer's tick, and the end

std::vector<Range> Pool::tick(TimePoint now) {
  WorkerSlots::Stuck stuck;
  Permitted permitted;
  Next next;
  {
    MutexLock lock(mutex_);
    stuck = slots_.expire(now);
    for (; stuck.permits > 0; --stuck.permits) permits_->give_back(permitted);
    for (; stuck.own_share > 0; --stuck.own_share) own_share_.end(now, limits_.workers);
    thread_state_.start_failed = false;
    const bool may_begin = slots_.counts().free > 0 ? searching() == 0 : !helpers_.empty();
    const bool halted = queued_ > 0 && claims_ == claims_at_tick_ && may_begin && !asynchronous_ &&
                        !(permits_ && permits_->waiting());
    claims_at_tick_ = claims_;
    if (stuck.jobs.empty() && !halted) return {};
    if (halted) job_time_.forget();
    next_to_work(now, next);
  }
  for (auto* waiter : permitted) waiter->permitted();
  for (auto* lender : stuck.lenders) lender->loan_stuck();
  set_to_work(next);
  return std::move(stuck.jobs);
}

void Pool::cancel() {
  MutexLock lock(mutex_);
  slots_.want_all_back();
  slots_.stop_all();
}

bool Pool::join(Deadline deadline) {
  std::vector<std::thread> left;
  {
    MutexLock lock(mutex_);
    closed_ = true;
    ending_ = true;
    wake_all();
    while (!ended())
      if (!ended_.wait_until(mutex_, deadline.at) && !ended()) return false;
    left = threads_.take_left();
  }
  for (auto& thread : left) thread.join();
  return true;
}

/// When the job that has waited longest was submitted; the latest possible time if no job is queued.
TimePoint Pool::oldest() const {
  TimePoint oldest = TimePoint::max();
  for (const auto& queue : queues_)
    if (!queue.empty()) oldest = std::min(oldest, queue.front().submitted);
  return oldest;
}

Snapshot Pool::snapshot() const {
  MutexLock lock(mutex_);
  const auto& slots = slots_.counts();
  const auto threads = thread_state_.counts();
  Snapshot result;
  result.queued = queued_;
  result.in_flight = static_cast<std::uint32_t>(outstanding_ - queued_);
  result.free = slots.free;
  result.threads = threads.threads();
  result.active = threads.awake() - threads.searchers();
  result.service_time = job_time_.average();
  result.expired = slots.expired;
  result.stuck = slots.stuck;
  result.start_failures = thread_state_.start_failures;
  result.lent = slots.lent;
  result.borrowed = slots.borrowed;
  if (queued_ > 0) result.oldest = SteadyClock::now() - oldest();
  return result;
}

}  // namespace laneway::pool
