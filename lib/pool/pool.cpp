#include "pool/pool.h"

#include <algorithm>

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
    if (workers_.threads() == 0 && !asynchronous_) {
      workers_.allow_starts();
      if (!workers_.start(slots_.most())) return {0, Admission::full};
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
    if (workers_.threads() == 0 && outstanding_ == 0 && !asynchronous_) return;
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
  set_to_work(next);
  return std::move(stuck.jobs);
}

void Pool::Implementation::kick() {
  Worker* wake = nullptr;
  {
    MutexLock lock(mutex_);
    if (asynchronous_) return;
    workers_.allow_starts();
    const bool stuck =
        claimable() && !permits_.waiting() && workers_.searching() == 0 && claims_ == claims_at_kick_;
    claims_at_kick_ = claims_;
    if (!stuck) return;
    service_time_.forget();
    wake = wake_if_wanted();
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
  workers_.wake_all();
  while (!ended()) {
    if (deadline.passed()) return false;
    ended_.wait_until(mutex_, deadline.at());
  }
  workers_.join();
  return true;
}

Snapshot Pool::Implementation::snapshot() const {
  MutexLock lock(mutex_);
  Snapshot result;
  result.queued = queued_;
  result.in_flight = static_cast<std::uint32_t>(outstanding_ - queued_);
  result.free = slots_.free();
  result.threads = workers_.threads();
  result.active = workers_.awake() - workers_.searching();
  result.service_time = service_time_.average();
  result.expired = slots_.expired();
  result.stuck = slots_.stuck();
  result.start_failures = workers_.start_failures();
  return result;
}

// The public functions

Pool::Pool(Limits limits, Work& work, std::function<void()> on_room)
    : implementation_(std::make_unique<Implementation>(limits, work, std::move(on_room))) {}

Pool::~Pool() {
  while (!join(Deadline::in(seconds(60)))) {
  }
}

void Pool::help(const std::vector<Pool*>&) {}
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
