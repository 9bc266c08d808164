#include "pool/pool.h"

#include <pthread.h>

#include <algorithm>
#include <cassert>
#include <system_error>

#include "pool/implementation.h"

namespace laneway::pool {

// Admission

Submitted Pool::Implementation::try_submit(Batch& batch, std::uint32_t begin) {
  const std::uint32_t jobs = batch.size > begin ? batch.size - begin : 0;
  const TimePoint now = SteadyClock::now();
  std::uint32_t taken = 0;
  Next next;
  {
    MutexLock lock(mutex_);
    if (closed_) return {0, Admission::closed};
    if (jobs == 0) return {0, Admission::accepted};
    taken = admissible(batch, jobs);
    if (taken == 0) return {0, Admission::full};
    if (threads_ == 0 && !asynchronous_) {
      start_failed_ = false;
      if (!start_worker()) return {0, Admission::full};
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

Pool::Implementation::Next Pool::Implementation::next_to_work(TimePoint now) {
  if (asynchronous_) return {nullptr, begin_to_pass_on(now)};
  return {wake_if_wanted(), std::nullopt};
}

void Pool::Implementation::set_to_work(const Next& next) {
  if (next.wake != nullptr) next.wake->wake.notify_one();
  if (next.claim) pass_on(*next.claim);
}

void Pool::Implementation::notify_at(std::uint32_t outstanding) {
  {
    MutexLock lock(mutex_);
    notify_at_ = outstanding;
    // No job is accepted and still one was refused: no thread is available, and calling at once would be a
    // busy loop.
    if (threads_ == 0 && outstanding_ == 0 && !asynchronous_) return;
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
    next = next_to_work(SteadyClock::now());
  }
  set_to_work(next);
}

// Claims

void Pool::Implementation::run_claims(Worker& self) {
  ::pthread_setname_np(::pthread_self(), "worker");  // for top -H and debuggers
  while (const auto claim = next_claim(self)) work_.run(*claim);
}

std::optional<Claim> Pool::Implementation::next_claim(Worker& self) {
  TimePoint now = SteadyClock::now();
  Claim claim;
  Worker* wake = nullptr;
  {
    MutexLock lock(mutex_);
    arrive(self);
    while (!claimable()) {
      if (!park(self)) return std::nullopt;
      now = SteadyClock::now();
    }
    claim = take_claim(now);
    if (ending_ && queued_ == 0) wake_all();
    wake = wake_if_wanted();
  }
  if (wake != nullptr) wake->wake.notify_one();
  return claim;
}

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
  return slots_.take(range, weight(range), now);
}

void Pool::Implementation::finish(const Claim& claim, Ran ran) {
  auto& slot = static_cast<WorkerSlot&>(*claim.slot);
  const std::uint32_t jobs = claim.range.count();
  const TimePoint now = SteadyClock::now();
  const Duration took = now - slot.started;
  if (ran.attempts > 0) duration.record(took / ran.attempts, ran.attempts);
  Worker* wake = nullptr;
  std::optional<Claim> next;
  bool room = false;
  {
    MutexLock lock(mutex_);
    assert(slot.in_use && slot.first_ticket == claim.first_ticket);
    if (ran.typical > 0) service_time_.record(took, ran.typical);
    outstanding_ -= jobs;
    admitted_ -= slot.weight;
    slots_.give_back(slot);
    // The work may have waited for a slot, and not for a thread.
    if (asynchronous_)
      next = begin_to_pass_on(now);
    else if (slots_.free() == 1)
      wake = wake_if_wanted();
    room = take_notification();
    if (wake == nullptr && !room && !next) {
      if (ended()) ended_.notify_all();
      return;
    }
    ++signalling_;
  }
  if (wake != nullptr) wake->wake.notify_one();
  if (room) on_room_();
  if (next) pass_on(*next);
  MutexLock lock(mutex_);
  --signalling_;
  if (ended()) ended_.notify_all();
}

// Asynchronous work

/// The first claim, unless it is already being run: by another thread, or by this one further up the stack.
std::optional<Claim> Pool::Implementation::begin_to_pass_on(TimePoint now) {
  if (passing_on_ || !claimable()) return std::nullopt;
  passing_on_ = true;
  return take_claim(now);
}

void Pool::Implementation::pass_on(Claim claim) {
  for (;;) {
    work_.run(claim);
    MutexLock lock(mutex_);
    passing_on_ = claimable();
    if (!passing_on_) return;
    claim = take_claim(SteadyClock::now());
  }
}

// Workers

Pool::Implementation::Worker* Pool::Implementation::wake_if_wanted() {
  if (slots_.free() <= searching_) return nullptr;
  const std::uint64_t expected = std::uint64_t{searching_} * service_time_.claim_size();
  if (queued_ <= expected || !service_time_.worth_a_wake_up(queued_ - expected, awake_)) return nullptr;
  return wake_one();
}

/// Returns the worker to notify after the lock is released; null if a thread was started, or if all are
/// awake.
Pool::Implementation::Worker* Pool::Implementation::wake_one() {
  if (parked_.empty()) {
    start_worker();
    return nullptr;
  }
  Worker* worker = parked_.back();
  parked_.pop_back();
  worker->woken = true;
  ++awake_;
  ++searching_;
  return worker;
}

void Pool::Implementation::wake_all() {
  while (!parked_.empty()) wake_one()->wake.notify_one();
}

bool Pool::Implementation::start_worker() {
  if (threads_ >= slots_.most() || start_failed_) return false;
  if (unstarted_.empty()) unstarted_.push_back(&workers_.emplace_back());
  Worker& worker = *unstarted_.back();
  // An earlier thread of this worker has ended except for its return: it has already released the lock.
  if (worker.thread.joinable()) worker.thread.join();
  try {
    worker.thread = std::thread([this, &worker] { run_claims(worker); });
  } catch (const std::system_error&) {
    start_failed_ = true;
    ++start_failures_;
    return false;
  }
  unstarted_.pop_back();
  worker.woken = true;
  ++threads_;
  ++awake_;
  ++searching_;
  return true;
}

void Pool::Implementation::arrive(Worker& self) {
  if (!self.woken) return;
  self.woken = false;
  --searching_;
}

/// Sleeps until woken; returns false if the thread must end.
bool Pool::Implementation::park(Worker& self) {
  if ((ending_ && queued_ == 0) || too_many_threads()) {
    --awake_;
    leave(self);
    return false;
  }
  parked_.push_back(&self);
  --awake_;
  TimePoint until = SteadyClock::now() + limits_.idle;
  while (!self.woken) {
    if (self.wake.wait_until(mutex_, until) || self.woken) continue;
    if (queued_ == 0 || too_many_threads()) {
      parked_.erase(std::find(parked_.begin(), parked_.end(), &self));
      leave(self);
      return false;
    }
    until += limits_.idle;  // a thread must be available when a slot becomes free
  }
  arrive(self);
  return true;
}

void Pool::Implementation::leave(Worker& self) {
  --threads_;
  unstarted_.push_back(&self);
  if (ended()) ended_.notify_all();
}

// The producer's tick, and the end

std::vector<Range> Pool::Implementation::expire(TimePoint now) {
  std::vector<Range> stuck;
  Next next;
  {
    MutexLock lock(mutex_);
    stuck = slots_.expire(now);
    if (stuck.empty()) return stuck;
    next = next_to_work(now);
  }
  set_to_work(next);
  return stuck;
}

void Pool::Implementation::kick() {
  Worker* wake = nullptr;
  {
    MutexLock lock(mutex_);
    if (asynchronous_) return;
    start_failed_ = false;
    const bool stuck = claimable() && searching_ == 0 && claims_ == claims_at_kick_;
    claims_at_kick_ = claims_;
    if (!stuck) return;
    service_time_.forget();
    wake = wake_one();
  }
  if (wake != nullptr) wake->wake.notify_one();
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
  MutexLock lock(mutex_);
  closed_ = true;
  ending_ = true;
  wake_all();
  while (!ended()) {
    if (deadline.passed()) return false;
    ended_.wait_until(mutex_, deadline.at());
  }
  for (Worker& worker : workers_)
    if (worker.thread.joinable()) worker.thread.join();
  return true;
}

Snapshot Pool::Implementation::snapshot() const {
  MutexLock lock(mutex_);
  Snapshot result;
  result.queued = queued_;
  result.in_flight = static_cast<std::uint32_t>(outstanding_ - queued_);
  result.free = slots_.free();
  result.threads = threads_;
  result.active = awake_ - searching_;
  result.service_time = service_time_.average();
  result.expired = slots_.expired();
  result.stuck = slots_.stuck();
  result.start_failures = start_failures_;
  return result;
}

// The public functions

Pool::Pool(Limits limits, Work& work, std::function<void()> on_room)
    : implementation_(std::make_unique<Implementation>(limits, work, std::move(on_room))) {}

Pool::~Pool() {
  while (!join(Deadline::in(seconds(60)))) {
  }
}

Submitted Pool::try_submit(Batch& batch, std::uint32_t begin) {
  return implementation_->try_submit(batch, begin);
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
void Pool::want_back() { implementation_->want_back(); }
void Pool::cancel() { implementation_->cancel(); }
bool Pool::drained() const { return implementation_->drained(); }
Snapshot Pool::snapshot() const { return implementation_->snapshot(); }
Limits Pool::limits() const { return implementation_->limits(); }
const Histogram& Pool::queue_wait() const { return implementation_->queue_wait; }
const Histogram& Pool::duration() const { return implementation_->duration; }
bool Pool::join(Deadline deadline) { return implementation_->join(deadline); }

}  // namespace laneway::pool
