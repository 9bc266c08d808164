#include "worker_pool/watched_threads.h"

#include <pthread.h>

#include <system_error>
#include <utility>

namespace laneway::worker_pool {

namespace {

constexpr Duration watch_interval = milliseconds(1);
constexpr std::uint32_t quiet_ticks = 10;  // then the watcher gives up

thread_local const WatchedThreads* own_threads = nullptr;

}  // namespace

WatchedThreads::WatchedThreads(Limits limits, std::string name, ThreadWork& work)
    : limits_(limits),
      name_(std::move(name)),
      work_(work),
      threads_([this](Thread& thread) { run(thread); }, state_) {}

bool WatchedThreads::is_mine() const { return own_threads == this; }

void WatchedThreads::start_least() {
  MutexLock lock(mutex_);
  for (std::uint32_t i = 0; i < limits_.least; ++i)
    if (!start(ThreadCounts::searching))
      throw std::system_error(EAGAIN, std::system_category(), name_ + ": a thread could not be started");
}

Thread* WatchedThreads::start(std::uint64_t as) {
  return counts().threads() < limits_.most ? threads_.start(as) : nullptr;
}

bool WatchedThreads::call_one() {
  MutexLock lock(mutex_);
  const auto now = counts();
  if (now.searchers() > 0 || ended_) return true;
  // Another thread may have taken the work since the caller saw it.
  if (now.threads() > 0 && !work_.has_work()) return true;
  Thread* const sleeper = threads_.wake_last();
  if (!sleeper) return start(ThreadCounts::searching) || now.threads() > 0;
  end_watch(*sleeper);
  sleeper->wake.notify_one();
  return true;
}

void WatchedThreads::call_watcher() {
  MutexLock lock(mutex_);
  if (watcher_ || ended_ || counts().searchers() > 0) return;
  const auto& parked = threads_.parked();
  Thread* const thread = parked.empty() ? start(ThreadCounts::parked) : parked.back();
  if (!thread) return;
  begin_watch(*thread);
  thread->wake.notify_one();  // so that it looks once a millisecond
}

void WatchedThreads::run(Thread& thread) {
  own_threads = this;
  const auto name = name_.substr(0, 11) + "-" + std::to_string(limits_.first + thread.number);
  ::pthread_setname_np(::pthread_self(), name.substr(0, 15).c_str());
  if (!watch_first(thread)) return;
  do work_.work(thread.number);
  while (park(thread));
}

bool WatchedThreads::watch_first(Thread& self) {
  MutexLock lock(mutex_);
  return watcher_ != &self || sleep(self);
}

/// Returns true if the thread searches again, false if it is to end.
bool WatchedThreads::park(Thread& self) {
  MutexLock lock(mutex_);
  threads_.park(self, ThreadCounts::searching);
  if (work_.has_work()) {  // after the counts: a submitter sees the one or this thread the other
    threads_.unpark(self, ThreadCounts::searching);
    return true;
  }
  return sleep(self);
}

bool WatchedThreads::sleep(Thread& self) {
  const auto now = SteadyClock::now();
  const auto idle_until = limits_.idle < TimePoint::max() - now ? now + limits_.idle : TimePoint::max();
  std::uint32_t quiet = 0;
  if (!watcher_ && work_.wants_watcher()) begin_watch(self);
  for (;;) {
    if (self.woken) return true;
    if (ended_) return leave(self);
    const bool watching = watcher_ == &self;
    const bool ends = !watching && counts().threads() > limits_.least;
    if (watching) {
      self.wake.wait_until(mutex_, SteadyClock::now() + watch_interval);
      if (!self.woken && !ended_ && tick(self, quiet)) return true;
    } else if (!ends) {
      self.wake.wait(mutex_);
    } else if (!self.wake.wait_until(mutex_, idle_until) && !self.woken && watcher_ != &self &&
               SteadyClock::now() >= idle_until && counts().threads() > limits_.least) {
      return leave(self);
    }
  }
}

void WatchedThreads::begin_watch(Thread& thread) {
  threads_.keep_asleep(thread);
  watcher_ = &thread;
  state_.word |= ThreadCounts::watched;
}

void WatchedThreads::end_watch(const Thread& thread) {
  if (watcher_ != &thread) return;
  watcher_ = nullptr;
  state_.word &= ~ThreadCounts::watched;
}

/// Once a millisecond. Returns true if the watcher searches again.
bool WatchedThreads::tick(Thread& self, std::uint32_t& quiet) {
  const bool needed = work_.needs_help();
  if (!needed) quiet = work_.watched_something() ? 0 : quiet + 1;
  if (!needed && quiet < quiet_ticks) return false;
  end_watch(self);
  // After the counts: a submitter, or a worker with a claim, sees that nobody watches, or else this thread
  // sees the job or the claim.
  if (!needed && !work_.has_work() && !work_.has_unbegun_claim()) return false;
  threads_.unpark(self, ThreadCounts::searching);
  return true;
}

/// The thread ends, unless work came at the last moment. Returns as park().
bool WatchedThreads::leave(Thread& self) {
  end_watch(self);
  threads_.unpark(self, 0);
  state_.word -= ThreadCounts::thread;
  if (work_.has_work()) {
    state_.word += ThreadCounts::thread + ThreadCounts::searching;
    return true;
  }
  threads_.leave(self, ended_);
  all_left_.notify_all();
  return false;
}

void WatchedThreads::end() {
  std::vector<std::thread> left;
  {
    MutexLock lock(mutex_);
    ended_ = true;
    for (auto* thread : threads_.parked()) thread->wake.notify_one();
    while (counts().threads() > 0) all_left_.wait(mutex_);
    left = threads_.take_left();
  }
  for (auto& thread : left) thread.join();
}

}  // namespace laneway::worker_pool
