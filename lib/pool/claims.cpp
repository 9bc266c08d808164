// How claims begin and end: on the pool's threads, or on the caller's if the pool is asynchronous.
#include <pthread.h>

#include <algorithm>
#include <cassert>

#include "pool/implementation.h"

namespace laneway::pool {

Claim Pool::Implementation::take_claim(TimePoint now) {
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
  const Claim claim = slots_.take(range, weight(range), permits_.needed(), now);
  stop_waiting_in_vain();
  return claim;
}

void Pool::Implementation::finish(const Claim& claim, Ran ran) {
  auto& slot = static_cast<WorkerSlot&>(*claim.slot);
  const std::uint32_t jobs = claim.range.count();
  const TimePoint now = SteadyClock::now();
  const Duration took = now - slot.started;
  if (ran.attempts > 0) duration.record(took / ran.attempts, ran.attempts);
  Worker* wake = nullptr;
  std::optional<Claim> next;
  Permitted permitted;
  bool room = false;
  {
    MutexLock lock(mutex_);
    assert(slot.in_use && slot.first_ticket == claim.first_ticket);
    if (ran.typical > 0) service_time_.record(took, ran.typical);
    outstanding_ -= jobs;
    admitted_ -= slot.weight;
    if (slot.permit) permits_.give_back(permitted);
    slots_.give_back(slot);
    // The work may have waited for a slot, and not for a thread.
    if (asynchronous_)
      next = begin_to_pass_on(now);
    else if (slots_.free() == 1)
      wake = wake_if_wanted();
    room = take_notification();
    if (wake == nullptr && !room && !next && permitted.empty()) {
      if (ended()) ended_.notify_all();
      return;
    }
    ++signalling_;
  }
  if (wake != nullptr) wake->wake.notify_one();
  hand_over(permitted);
  if (room) on_room_();
  if (next) pass_on(*next);
  MutexLock lock(mutex_);
  --signalling_;
  if (ended()) ended_.notify_all();
}

// Workers

void Pool::Implementation::run_claims(Worker& self) {
  ::pthread_setname_np(::pthread_self(), "worker");  // for top -H and debuggers
  while (const auto claim = next_claim(self)) work_.run(*claim);
}

std::optional<Claim> Pool::Implementation::next_claim(Worker& self) {
  for (;;) {
    const TimePoint now = SteadyClock::now();
    Found found;
    {
      MutexLock lock(mutex_);
      workers_.arrive(self);
      found = find_claim(self, now);
    }
    if (found.wake != nullptr) found.wake->wake.notify_one();
    hand_over(found.permitted);
    if (found.claim || found.end) return found.claim;
  }
}

Pool::Implementation::Found Pool::Implementation::find_claim(Worker& self, TimePoint now) {
  Found found;
  while (!claimable() || !permits_.obtain()) {
    give_back_unused_permits(1, found.permitted);
    if (!found.permitted.empty()) return found;
    if (!park(self)) {
      found.end = true;
      return found;
    }
    now = SteadyClock::now();
  }
  found.claim = take_claim(now);
  if (ending_ && queued_ == 0) workers_.wake_all();
  found.wake = wake_if_wanted();
  return found;
}

Worker* Pool::Implementation::wake_if_wanted() {
  if (slots_.free() <= workers_.searching()) return nullptr;
  const std::uint64_t expected = std::uint64_t{workers_.searching()} * service_time_.claim_size();
  if (queued_ <= expected || !service_time_.worth_a_wake_up(queued_ - expected, workers_.awake()))
    return nullptr;
  if (!permits_.in_sight()) return nullptr;
  return workers_.wake_one(slots_.most());
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

/// The first claim, unless it is already being run: by another thread, or by this one further up the stack.
std::optional<Claim> Pool::Implementation::begin_to_pass_on(TimePoint now) {
  if (passing_on_ || !claimable() || !permits_.obtain()) return std::nullopt;
  passing_on_ = true;
  return take_claim(now);
}

void Pool::Implementation::pass_on(Claim claim) {
  for (bool more = true; more;) {
    work_.run(claim);
    Permitted permitted;
    {
      MutexLock lock(mutex_);
      more = passing_on_ = claimable() && permits_.obtain();
      if (more)
        claim = take_claim(SteadyClock::now());
      else
        give_back_unused_permits(0, permitted);
    }
    hand_over(permitted);
  }
}

// Permits

/// The threads that look for a claim without being woken: on their way, or about to return from a claim that
/// is finished.
std::uint32_t Pool::Implementation::coming() const {
  if (asynchronous_) return passing_on_ ? 1 : 0;
  const auto running = slots_.in_use();
  return std::max(workers_.searching(), workers_.awake() - std::min(workers_.awake(), running));
}

void Pool::Implementation::permitted() {
  Permitted others;
  Next next;
  {
    MutexLock lock(mutex_);
    permits_.granted();
    if (asynchronous_)
      next.claim = begin_to_pass_on(SteadyClock::now());
    else if (claimable() && permits_.unused() > coming())
      next.wake = workers_.wake_one(slots_.most());
    give_back_unused_permits(0, others);
    ++signalling_;
  }
  set_to_work(next);
  hand_over(others);
  MutexLock lock(mutex_);
  --signalling_;
  if (ended()) ended_.notify_all();
}

/// Keeps one for each thread that comes for it; `leaving` of these do not come after all.
void Pool::Implementation::give_back_unused_permits(std::uint32_t leaving, Permitted& to) {
  if (permits_.unused() == 0) return;
  const auto takers = coming();
  permits_.give_back_unused(claimable() ? takers - std::min(takers, leaving) : 0, to);
}

void Pool::Implementation::stop_waiting_in_vain() {
  if (permits_.waiting() && !claimable()) permits_.stop_waiting();
}

}  // namespace laneway::pool
