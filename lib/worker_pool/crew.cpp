#include "worker_pool/crew.h"

#include <pthread.h>

#include <algorithm>
#include <exception>
#include <system_error>
#include <utility>

namespace laneway::worker_pool {

namespace {

constexpr Duration watch_interval = milliseconds(1);
constexpr std::uint32_t quiet_ticks = 10;  // then the watcher gives up

thread_local const Crew* own_crew = nullptr;
thread_local std::thread left_before;  // of the same crew, by a thread that leaves

}  // namespace

Crew::Crew(Limits limits, std::string name, Shift& shift)
    : limits_(limits), name_(std::move(name)), shift_(shift) {
  for (std::uint32_t i = 0; i < limits.most; ++i) workers_.push_back(std::make_unique<Worker>());
  MutexLock lock(mutex_);
  parked_.reserve(limits.most);
}

Crew::~Crew() { end(); }

bool Crew::is_mine() const { return own_crew == this; }

void Crew::start_least() {
  MutexLock lock(mutex_);
  for (std::uint32_t i = 0; i < limits_.least; ++i)
    if (!start(Presence::searching))
      throw std::system_error(EAGAIN, std::system_category(), name_ + ": a thread could not be started");
}

bool Crew::call_one() {
  MutexLock lock(mutex_);
  const auto now = presence();
  if (now.searchers() > 0 || ended_) return true;
  // Another thread may have taken the work since the caller saw it.
  if (now.threads() > 0 && !shift_.has_work()) return true;
  Worker* sleeper = watcher_;
  if (!parked_.empty()) {
    sleeper = parked_.back();
    parked_.pop_back();
    presence_.fetch_add(Presence::searching - Presence::parked, std::memory_order_seq_cst);
  } else if (sleeper) {
    get_up(*sleeper, Presence::searching);
  } else {
    return start(Presence::searching) || now.threads() > 0;
  }
  sleeper->woken = true;
  sleeper->wake.notify_one();
  return true;
}

void Crew::call_watcher() {
  MutexLock lock(mutex_);
  if (watcher_ || ended_ || presence().searchers() > 0) return;
  if (parked_.empty()) {
    static_cast<void>(start(Presence::parked));
    return;
  }
  auto& sleeper = *parked_.back();
  appoint(sleeper);
  sleeper.wake.notify_one();  // so that it looks once a millisecond from now on
}

/// Counts the thread, as searching or as parked, before it starts. One that is parked watches.
bool Crew::start(std::uint64_t as) {
  if (presence().threads() >= limits_.most) return true;
  const auto free =
      std::find_if(workers_.begin(), workers_.end(), [](const auto& worker) { return !worker->alive; });
  auto& worker = **free;
  worker.woken = false;
  presence_.fetch_add(Presence::thread + as, std::memory_order_seq_cst);
  if (as == Presence::parked) appoint(worker);
  try {
    const auto number = static_cast<std::uint32_t>(free - workers_.begin());
    worker.thread = std::thread([this, &worker, number] { run(worker, number); });
    worker.alive = true;
    start_failed_.store(false, std::memory_order_relaxed);
    return true;
  } catch (const std::exception&) {  // of the system, or for want of memory
    if (as == Presence::parked) get_up(worker, Presence::parked);
    presence_.fetch_sub(Presence::thread + as, std::memory_order_seq_cst);
    start_failures_.fetch_add(1, std::memory_order_relaxed);
    start_failed_.store(true, std::memory_order_relaxed);
    return false;
  }
}

void Crew::run(Worker& worker, std::uint32_t number) {
  own_crew = this;
  const auto name = name_.substr(0, 11) + "-" + std::to_string(limits_.first + number);
  ::pthread_setname_np(::pthread_self(), name.substr(0, 15).c_str());
  if (watch_first(worker)) {
    do shift_.work(worker);
    while (park(worker));
  }
  if (left_before.joinable()) left_before.join();
}

bool Crew::watch_first(Worker& worker) {
  MutexLock lock(mutex_);
  return watcher_ != &worker || sleep(worker);
}

/// Returns true if the worker searches again, false if its thread is to end.
bool Crew::park(Worker& worker) {
  MutexLock lock(mutex_);
  worker.woken = false;
  parked_.push_back(&worker);
  presence_.fetch_add(Presence::parked - Presence::searching, std::memory_order_seq_cst);
  if (shift_.has_work()) {  // after the presence: a submitter sees the one or this thread the other
    get_up(worker, Presence::searching);
    return true;
  }
  return sleep(worker);
}

bool Crew::sleep(Worker& worker) {
  const auto now = SteadyClock::now();
  const auto idle_until = limits_.idle < TimePoint::max() - now ? now + limits_.idle : TimePoint::max();
  std::uint32_t quiet = 0;
  watch(worker);
  for (;;) {
    if (worker.woken) return true;
    if (ended_) return leave(worker);
    const bool watching = watcher_ == &worker;
    const bool ends = !watching && presence().threads() > limits_.least;
    if (watching) {
      worker.wake.wait_until(mutex_, SteadyClock::now() + watch_interval);
      if (!worker.woken && !ended_ && tick(worker, quiet)) return true;
    } else if (!ends) {
      worker.wake.wait(mutex_);
    } else if (!worker.wake.wait_until(mutex_, idle_until) && !worker.woken && watcher_ != &worker &&
               SteadyClock::now() >= idle_until && presence().threads() > limits_.least) {
      return leave(worker);
    }
  }
}

void Crew::watch(Worker& worker) {
  if (!watcher_ && shift_.wants_watcher() && shift_.watchable()) appoint(worker);
}

void Crew::appoint(Worker& worker) {
  std::erase(parked_, &worker);
  watcher_ = &worker;
  presence_.fetch_or(Presence::watched, std::memory_order_seq_cst);
}

/// Once a millisecond. Returns true if the watcher searches again.
bool Crew::tick(Worker& worker, std::uint32_t& quiet) {
  if (shift_.needs_help()) {
    get_up(worker, Presence::searching);
    return true;
  }
  quiet = shift_.watched_something() ? 0 : quiet + 1;
  if (quiet < quiet_ticks) return false;
  watcher_ = nullptr;
  parked_.push_back(&worker);
  presence_.fetch_and(~Presence::watched, std::memory_order_seq_cst);
  if (!shift_.has_work()) return false;
  get_up(worker, Presence::searching);
  return true;
}

/// No longer parked, nor the watcher.
void Crew::get_up(Worker& worker, std::uint64_t change) {
  if (watcher_ == &worker) {
    watcher_ = nullptr;
    presence_.fetch_and(~Presence::watched, std::memory_order_seq_cst);
  } else {
    std::erase(parked_, &worker);
  }
  presence_.fetch_add(change - Presence::parked, std::memory_order_seq_cst);
}

/// The thread ends, unless work came at the last moment. Returns as park(). It is joined by the next one that
/// leaves or by end(): who starts another one must not wait for what a user's thread_local objects do at its
/// end.
bool Crew::leave(Worker& worker) {
  get_up(worker, 0);
  presence_.fetch_sub(Presence::thread, std::memory_order_seq_cst);
  if (shift_.has_work()) {
    presence_.fetch_add(Presence::thread + Presence::searching, std::memory_order_seq_cst);
    return true;
  }
  worker.alive = false;
  if (!ended_) left_before = std::exchange(left_, std::move(worker.thread));
  return false;
}

void Crew::end() {
  {
    MutexLock lock(mutex_);
    ended_ = true;
    for (auto* worker : parked_) worker->wake.notify_one();
    if (watcher_) watcher_->wake.notify_one();
  }
  for (const auto& worker : workers_)
    if (worker->thread.joinable()) worker->thread.join();
  std::thread last;
  {
    MutexLock lock(mutex_);
    last.swap(left_);
  }
  if (last.joinable()) last.join();
}

}  // namespace laneway::worker_pool
