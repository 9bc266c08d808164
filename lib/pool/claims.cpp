// How claims begin and end: on the pool's threads, or on the caller's if the pool is asynchronous.
#include <pthread.h>

#include <algorithm>
#include <cassert>

#include "pool/implementation.h"

namespace laneway::pool {

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
  const std::uint32_t timely = limits_.whole_claims ? limits_.most_per_claim : service_time_.claim_size();
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
  const std::uint32_t jobs = claim.range.count();
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
    if (ran.typical > 0) service_time_.record(took, ran.typical);
    outstanding_ -= jobs;
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

void Pool::Implementation::end_signalling() {
  MutexLock lock(mutex_);
  --signalling_;
  if (ended()) ended_.notify_all();
}

// Workers

void Pool::Implementation::run_claims(Worker& self) {
  ::pthread_setname_np(::pthread_self(), "worker");  // for top -H and debuggers
  for (Next next; find_work(self, next); next = {}) {
    if (next.borrower != nullptr)
      serve(*next.borrower, next.errand);
    else
      work_.run(*next.claim);
  }
}

/// Returns false if the thread must end.
bool Pool::Implementation::find_work(Worker& self, Next& next) {
  for (;;) {
    const TimePoint now = SteadyClock::now();
    Search result;
    Permitted permitted;
    {
      MutexLock lock(mutex_);
      workers_.arrive(self);
      result = search(self, now, next, permitted);
    }
    if (next.wake != nullptr) next.wake->wake.notify_one();
    hand_over(permitted);
    if (next.call) call_helpers();
    if (result != Search::again) return result == Search::found;
  }
}

Pool::Implementation::Search Pool::Implementation::search(Worker& self, TimePoint now, Next& next,
                                                          Permitted& permitted) {
  while (!choose(now, next)) {
    give_back_unused_permits(1, permitted);
    if (!permitted.empty()) return Search::again;
    if (!park(self)) return Search::end;
    now = SteadyClock::now();
  }
  if (next.borrower != nullptr) give_back_unused_permits(0, permitted);  // one may have been for this thread
  if (ending_ && queued_ == 0) workers_.wake_all();
  next.wake = wake_if_wanted();
  next.call = calls_for_help();
  return Search::found;
}

Worker* Pool::Implementation::wake_if_wanted() {
  const auto searching = this->searching();
  if (slots_.free() <= searching) return nullptr;
  const std::uint64_t expected = std::uint64_t{searching} * service_time_.claim_size();
  const auto awake = workers_.awake() - std::min(workers_.awake(), slots_.lent());
  if (queued_ > expected && service_time_.worth_a_wake_up(queued_ - expected, awake) && permits_.in_sight())
    return workers_.wake_one(slots_.most());
  return somebody_wants_help() ? workers_.wake_one(slots_.most()) : nullptr;
}

/// Sleeps until woken; returns false if the thread must end.
bool Pool::Implementation::park(Worker& self) {
  if ((ending_ && queued_ == 0) || too_many_threads()) {
    leave(self, false);
    return false;
  }
  workers_.park(self);
  // A thread must be available when a slot becomes free.
  while (!workers_.sleep(self, mutex_)) {
    if (queued_ > 0 && !too_many_threads()) continue;
    leave(self, true);
    return false;
  }
  workers_.arrive(self);
  return true;
}

void Pool::Implementation::leave(Worker& self, bool parked) {
  workers_.leave(self, parked);
  if (ended()) ended_.notify_all();
}

// Asynchronous work

/// Nothing begins while work is already being passed on: by another thread, or by this one further up the
/// stack.
void Pool::Implementation::begin_to_pass_on(TimePoint now, Next& next) {
  if (!passing_on_) passing_on_ = choose(now, next);
}

/// Returns whether to call the helpers.
bool Pool::Implementation::pass_on(Next next) {
  for (;;) {
    if (next.borrower != nullptr)
      serve(*next.borrower, next.errand);
    else
      work_.run(*next.claim);
    Permitted permitted;
    bool more = false;
    bool call = false;
    {
      MutexLock lock(mutex_);
      next = {};
      more = passing_on_ = choose(SteadyClock::now(), next);
      if (!more) {
        give_back_unused_permits(0, permitted);
        call = calls_for_help();
      }
    }
    hand_over(permitted);
    if (!more) return call;
  }
}

// Permits

/// The threads that look for a claim without being woken: on their way, or about to return from a claim that
/// is finished.
std::uint32_t Pool::Implementation::coming() const {
  if (asynchronous_) return passing_on_ ? 1 : 0;
  const auto errands = static_cast<std::uint32_t>(errands_.size());
  const auto running = slots_.in_use() - slots_.borrowed() + slots_.lent() - errands;
  return std::max(workers_.searching(), workers_.awake() - std::min(workers_.awake(), running));
}

void Pool::Implementation::permitted() {
  Permitted others;
  Next next;
  {
    MutexLock lock(mutex_);
    permits_.granted();
    if (asynchronous_)
      begin_to_pass_on(SteadyClock::now(), next);
    else if (claimable() && permits_.unused() > coming())
      next.wake = workers_.wake_one(slots_.most());
    next.call = calls_for_help();
    if (!next.call) give_back_unused_permits(0, others);
    ++signalling_;
  }
  hand_over(others);
  set_to_work(next);
  if (next.call) {
    Permitted unused;
    {
      MutexLock lock(mutex_);
      give_back_unused_permits(0, unused);
    }
    hand_over(unused);
  }
  end_signalling();
}

/// Keeps one for each thread that comes for it; `leaving` of these do not come after all.
void Pool::Implementation::give_back_unused_permits(std::uint32_t leaving, Permitted& to) {
  if (permits_.unused() == 0) return;
  auto takers = coming();
  takers = (claimable() ? takers - std::min(takers, leaving) : 0) + errands_coming_;
  permits_.give_back_unused(queued_ > 0 ? takers : 0, to);
}

void Pool::Implementation::stop_waiting_in_vain() {
  if (!permits_.waiting()) return;
  if (queued_ == 0 || (slots_.free() == 0 && helpers_.empty())) permits_.stop_waiting();
}

}  // namespace laneway::pool
