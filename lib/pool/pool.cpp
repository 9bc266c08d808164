#include "pool/pool.h"

#include <pthread.h>

#include <algorithm>
#include <cassert>

#include "pool/implementation.h"

namespace laneway::pool {

// Admission

Submitted Pool::Implementation::try_submit(Batch& batch, std::uint32_t begin, std::uint32_t most) {
  std::uint32_t jobs = batch.size > begin ? batch.size - begin : 0;
  if (!batch.sequential) jobs = std::min(jobs, most);
  const TimePoint now = SteadyClock::now();
  std::uint32_t taken = 0;
  Next next;
  {
    MutexLock lock(mutex_);
    if (closed_) return {0, Admission::closed};
    if (jobs == 0) return {0, Admission::accepted};
    taken = admissible(batch, jobs);
    if (taken == 0) return {0, Admission::full};
    if (threads().threads() == 0 && !asynchronous_) {
      thread_state_.start_failed = false;
      if (!start_thread()) return {0, Admission::full};
    }
    const Range range{&batch, begin, begin + taken};
    queues_.push(range, now);
    queued_ += taken;
    outstanding_ += taken;
    admitted_ += weight(range);
    next = next_to_work(now);
  }
  set_to_work(next);
  return {taken, taken == jobs ? Admission::accepted : Admission::full};
}

void Pool::Implementation::notify_at(std::uint32_t outstanding) {
  {
    MutexLock lock(mutex_);
    notify_at_ = outstanding;
    // No job is accepted and still one was refused: no thread is available, and calling at once would be a
    // busy loop.
    if (threads().threads() == 0 && outstanding_ == 0 && !asynchronous_) return;
    if (!take_notification()) return;
  }
  on_room_();
}

bool Pool::Implementation::take_notification() {
  if (!notify_at_ || admitted_ > *notify_at_) return false;
  notify_at_.reset();
  return true;
}

std::vector<Range> Pool::Implementation::withdraw(std::uint32_t keep) {
  std::vector<Range> withdrawn;
  bool room = false;
  {
    MutexLock lock(mutex_);
    while (queued_ > keep) {
      auto& queue = queues_.last();
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
    stop_waiting_in_vain();
    room = take_notification();
  }
  std::reverse(withdrawn.begin(), withdrawn.end());
  if (room) on_room_();
  return withdrawn;
}

void Pool::Implementation::resize(std::uint32_t workers, std::uint32_t queue) {
  Next next;
  {
    MutexLock lock(mutex_);
    limits_.workers = workers;
    limits_.queue = queue;
    slots_.resize(workers);
    stop_waiting_in_vain();
    next = next_to_work(SteadyClock::now());
  }
  set_to_work(next);
}

// How claims begin and end

Pool::Implementation::Next Pool::Implementation::next_to_work(TimePoint now) {
  Next next;
  if (asynchronous_)
    begin_to_pass_on(now, next);
  else
    next.wake = wake_if_wanted();
  next.call = calls_for_help();
  return next;
}

void Pool::Implementation::set_to_work(const Next& next) {
  if (next.wake != nullptr) next.wake->wake.notify_one();
  bool call = next.call;
  if (next.claim || next.borrower != nullptr) call = pass_on(next);
  if (call) call_helpers();
}

/// The next claim of a free slot. Returns false if there is nothing to do.
bool Pool::Implementation::choose(TimePoint now, Next& next) {
  if (!helps_.empty()) return choose_with_helping(now, next);
  if (!claimable() || !permits_.obtain()) return false;
  next.claim = take_claim(now);
  return true;
}

Claim Pool::Implementation::take_claim(TimePoint now, Lender* lender) {
  auto& queue = queues_.next();
  auto& entry = queue.front();
  Range range = entry.range;
  const std::uint32_t timely = limits_.whole_claims ? limits_.most_per_claim : job_time_.claim_size();
  if (!range.batch->sequential)
    range.end = range.begin + std::min({range.count(), timely, limits_.most_per_claim});
  const std::uint32_t jobs = range.count();
  queue_wait.record(now - entry.submitted, jobs);
  entry.range.begin = range.end;
  if (entry.range.count() == 0) queue.pop_front();
  queued_ -= jobs;
  ++claims_;
  const Claim claim = slots_.take(range, weight(range), permits_.needed(), now, lender);
  stop_waiting_in_vain();
  return claim;
}

void Pool::Implementation::finish(const Claim& claim, Ran ran) {
  auto& slot = static_cast<WorkerSlot&>(*claim.slot);
  const TimePoint now = SteadyClock::now();
  const Duration took = now - slot.started;
  if (ran.attempts > 0) duration.record(took / ran.attempts, ran.attempts);
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
    if (slot.permit) permits_.give_back(permitted);
    slots_.give_back(slot);
    if (lender != nullptr) wants_help_ = queued_ > 0;  // the lender sees it when the loan has ended
    // The work may have waited for a slot, and not for a thread.
    if (asynchronous_ || slots_.free() == 1) next = next_to_work(now);
    room = take_notification();
    if (!next.wake && !next.claim && !next.borrower && !next.call && !room && !lender && permitted.empty()) {
      if (ended()) ended_.notify_all();
      return;
    }
    ++signalling_;
  }
  hand_over(permitted);
  if (lender != nullptr) lender->loan_ended(stuck);
  if (room) on_room_();
  set_to_work(next);
  end_signalling();
}

void Pool::Implementation::leave_early(const Claim& claim, std::uint32_t jobs) {
  {
    MutexLock lock(mutex_);
    auto& slot = static_cast<WorkerSlot&>(*claim.slot);
    if (!slot.in_use || slot.first_ticket != claim.first_ticket) return;
    slot.left += jobs;
    outstanding_ -= jobs;
    const auto weight = claim.range.batch->sequential ? 0 : std::min(slot.weight, jobs);
    slot.weight -= weight;
    admitted_ -= weight;
    if (!take_notification()) return;
  }
  on_room_();
}

void Pool::Implementation::end_signalling() {
  MutexLock lock(mutex_);
  --signalling_;
  if (ended()) ended_.notify_all();
}

// Workers

void Pool::Implementation::run_claims(Thread& self) {
  ::pthread_setname_np(::pthread_self(), "worker");  // for top -H and debuggers
  for (Next next; find_work(self, next); next = {}) {
    if (next.borrower != nullptr)
      serve(*next.borrower, next.errand);
    else
      work_.run(*next.claim);
  }
}

/// Returns false if the thread must end.
bool Pool::Implementation::find_work(Thread& self, Next& next) {
  for (;;) {
    const TimePoint now = SteadyClock::now();
    Search result;
    Permitted permitted;
    {
      MutexLock lock(mutex_);
      arrive(self);
      result = search(self, now, next, permitted);
    }
    if (next.wake != nullptr) next.wake->wake.notify_one();
    hand_over(permitted);
    if (next.call) call_helpers();
    if (result != Search::again) return result == Search::found;
  }
}

Pool::Implementation::Search Pool::Implementation::search(Thread& self, TimePoint now, Next& next,
                                                          Permitted& permitted) {
  while (!choose(now, next)) {
    give_back_unused_permits(1, permitted);
    if (!permitted.empty()) return Search::again;
    if (!park(self)) return Search::end;
    now = SteadyClock::now();
  }
  if (next.borrower != nullptr) give_back_unused_permits(0, permitted);  // one may have been for this thread
  if (ending_ && queued_ == 0) wake_all();
  next.wake = wake_if_wanted();
  next.call = calls_for_help();
  return Search::found;
}

Thread* Pool::Implementation::wake_if_wanted() {
  const auto searching = this->searching();
  if (slots_.free() <= searching) return nullptr;
  const std::uint64_t expected = std::uint64_t{searching} * job_time_.claim_size();
  const auto awake = threads().awake() - std::min(threads().awake(), slots_.lent());
  if (queued_ > expected && job_time_.worth_a_wake_up(queued_ - expected, awake) && permits_.in_sight())
    return wake_one();
  return somebody_wants_help() ? wake_one() : nullptr;
}

// The producer's tick, and the end

std::vector<Range> Pool::Implementation::expire(TimePoint now) {
  WorkerSlots::Stuck stuck;
  Permitted permitted;
  Next next;
  {
    MutexLock lock(mutex_);
    stuck = slots_.expire(now);
    if (stuck.jobs.empty()) return {};
    for (; stuck.permits > 0; --stuck.permits) permits_.give_back(permitted);
    next = next_to_work(now);
  }
  hand_over(permitted);
  for (auto* lender : stuck.lenders) lender->loan_stuck();
  set_to_work(next);
  return std::move(stuck.jobs);
}

void Pool::Implementation::kick() {
  Next next;
  {
    MutexLock lock(mutex_);
    if (asynchronous_) return;
    thread_state_.start_failed = false;
    const bool may_begin = slots_.free() > 0 ? searching() == 0 : !helpers_.empty();
    const bool stuck = queued_ > 0 && may_begin && !permits_.waiting() && claims_ == claims_at_kick_;
    claims_at_kick_ = claims_;
    if (!stuck) return;
    job_time_.forget();
    next = next_to_work(SteadyClock::now());
  }
  set_to_work(next);
}

void Pool::Implementation::want_back() {
  MutexLock lock(mutex_);
  slots_.want_all_back();
}

void Pool::Implementation::cancel() {
  MutexLock lock(mutex_);
  slots_.want_all_back();
  slots_.stop_all();
}

std::vector<Range> Pool::Implementation::in_flight() const {
  MutexLock lock(mutex_);
  return slots_.in_flight();
}

bool Pool::Implementation::join(Deadline deadline) {
  std::vector<std::thread> left;
  {
    MutexLock lock(mutex_);
    closed_ = true;
    ending_ = true;
    wake_all();
    while (!ended()) {
      if (deadline.passed()) return false;
      ended_.wait_until(mutex_, deadline.at());
    }
    left = threads_.take_left();
  }
  for (auto& thread : left) thread.join();
  return true;
}

Snapshot Pool::Implementation::snapshot() const {
  MutexLock lock(mutex_);
  Snapshot result;
  result.queued = queued_;
  result.in_flight = static_cast<std::uint32_t>(outstanding_ - queued_);
  result.free = slots_.free();
  result.threads = threads().threads();
  result.active = threads().awake() - threads().searchers();
  result.service_time = job_time_.average();
  result.expired = slots_.expired();
  result.stuck = slots_.stuck();
  result.start_failures = thread_state_.start_failures;
  result.lent = slots_.lent();
  result.borrowed = slots_.borrowed();
  if (queued_ > 0) result.oldest = SteadyClock::now() - queues_.oldest();
  return result;
}

// The public functions

Pool::Pool(Limits limits, Work& work, std::function<void()> on_room)
    : implementation_(std::make_unique<Implementation>(limits, work, std::move(on_room))) {}

Pool::~Pool() {
  while (!join(Deadline::in(seconds(60)))) {
  }
  implementation_->detach();
}

void Pool::help(const std::vector<Pool*>& others) {
  for (std::size_t rank = 0; rank < others.size(); ++rank)
    implementation_->help(*others[rank]->implementation_, rank);
}
Submitted Pool::try_submit(Batch& batch, std::uint32_t begin, std::uint32_t most) {
  return implementation_->try_submit(batch, begin, most);
}
void Pool::notify_at(std::uint32_t outstanding) { implementation_->notify_at(outstanding); }
void Pool::resize(std::uint32_t workers, std::uint32_t queue) { implementation_->resize(workers, queue); }
void Pool::finish(const Claim& claim, Ran ran) { implementation_->finish(claim, ran); }
void Pool::finish(const Claim& claim) { finish(claim, {claim.range.count(), claim.range.count()}); }
std::vector<Range> Pool::expire(TimePoint now) { return implementation_->expire(now); }
void Pool::kick() { implementation_->kick(); }
void Pool::close() { implementation_->close(); }
std::vector<Range> Pool::withdraw(std::uint32_t keep) { return implementation_->withdraw(keep); }
std::vector<Range> Pool::in_flight() const { return implementation_->in_flight(); }
std::vector<Overdue> Pool::overdue() { return implementation_->overdue(); }
void Pool::leave_early(const Claim& claim, std::uint32_t jobs) { implementation_->leave_early(claim, jobs); }
void Pool::want_back() { implementation_->want_back(); }
void Pool::cancel() { implementation_->cancel(); }
bool Pool::drained() const { return implementation_->drained(); }
Snapshot Pool::snapshot() const { return implementation_->snapshot(); }
Limits Pool::limits() const { return implementation_->limits(); }
const Histogram& Pool::queue_wait() const { return implementation_->queue_wait; }
const Histogram& Pool::duration() const { return implementation_->duration; }
bool Pool::join(Deadline deadline) { return implementation_->join(deadline); }

}  // namespace laneway::pool
