#include "worker_pool/core.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <new>
#include <thread>
#include <utility>

#include "worker_pool/job_error.h"

namespace laneway::detail {

std::stop_token Runner::stop_token() const {
  const auto& worker = static_cast<const worker_pool::Worker&>(*this);
  return worker.core->stop_token(worker);
}

}  // namespace laneway::detail

namespace laneway::worker_pool {

namespace {

constexpr std::int64_t overdue_after = 100'000;          // ns; a claim is cut to a sixth of it
constexpr std::int64_t look_interval = 1'000'000;        // ns
constexpr Duration room_pays_after = microseconds(500);  // of work that makes room worth a wake-up
constexpr int searches = 6;
constexpr int pauses = 24;  // between two searches: polling the submitter's cache line slows it down

void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

Core::Core(const PoolOptions& options, Settings settings, Timekeeper& timekeeper)
    : options_(options),
      settings_(settings),
      processors_(std::max(1U, std::thread::hardware_concurrency())),
      timekeeper_(timekeeper),
      ring_(settings.workers + settings.queue, settings.workers == 1 ? 0 : 32 + 4 * settings.workers),
      workers_(settings.workers),
      control_(settings.paused ? paused : 0),
      unfinished_(ring_, workers_, settings.ids),
      threads_({settings.least, settings.workers, options.idle, settings.ids.core}, options.name, *this) {
  for (auto& worker : workers_) worker.core = this;
  threads_.start_least();
}

Core::~Core() { threads_.end(); }

Submission Core::reserve(std::uint32_t wanted, detail::JobDetails* details, std::int64_t until,
                         std::uint64_t& position) {
  if (threads_.counts().threads() == 0 && !ring_.closed() && !threads_.call_one())
    return {.verdict = Verdict::no_thread};
  const auto ended = [this] { return this->ended(); };
  auto reserved = ring_.reserve(wanted, ended);
  while (reserved.refusal == Ring::Refusal::full && wait_for_room(until))
    reserved = ring_.reserve(wanted, ended);
  if (reserved.refusal == Ring::Refusal::closed) {
    rejected_closed_.fetch_add(1, std::memory_order_relaxed);
    return {.verdict = Verdict::closed};
  }
  if (reserved.refusal == Ring::Refusal::full) {
    rejected_full_.fetch_add(1, std::memory_order_relaxed);
    const auto queue = static_cast<std::uint32_t>(settings_.queue);
    return {.verdict = Verdict::full, .length = queue, .capacity = queue};
  }
  position = reserved.position;
  const std::uint64_t sampled = job_time_.within(claim_time / 2) ? 64 : 1;  // reading the clock costs 25 ns
  for (std::uint32_t i = 0; i < reserved.count; ++i) {
    auto& slot = ring_.slot(position + i);
    const bool measured = ((position + i) & (sampled - 1)) == 0;
    slot.submitted = measured ? (clock_ns() & ~std::int64_t{1}) | (sampled > 1 ? 1 : 0) : 0;
    slot.details = details;
  }
  return {.id = id(position), .accepted = reserved.count};
}

/// The position and the counts of threads are written and read in one order by all threads: either this
/// thread sees that a worker is about to park, or the worker sees the job.
void Core::publish(std::uint64_t position, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i)
    ring_.slot(position + i).turn.store(position + i + 1, std::memory_order_release);
  const auto now = threads_.counts();
  if (now.searchers() > 0 || (now.sleepers() == 0 && now.threads() >= threads_.most()) || control() != 0)
    return;
  if (now.has_watcher() && now.awake() > 0 && count == 1 && (position & 15) != 0 && short_jobs()) return;
  call_if_needed(ring_.accepted() - ring_.claimed());
}

void Core::call_if_needed(std::uint64_t waiting) {
  const auto now = threads_.counts();
  if (waiting == 0 || now.searchers() > 0 || (now.sleepers() == 0 && now.threads() >= threads_.most()))
    return;
  if (now.has_watcher() && !wake_up_pays(waiting, now.awake())) return;
  threads_.call_one();
}

/// A claim of several jobs needs a worker that takes them out if the first one lasts. One that searches is
/// enough: it watches when it parks, and calls this when it finds work.
void Core::call_watcher() {
  const auto now = threads_.counts();
  if (now.has_watcher() || now.searchers() > 0 || control() != 0) return;
  if (now.sleepers() == 0 && now.threads() >= threads_.most()) return;
  if (claims_several(workers_)) threads_.call_watcher();
}

bool Core::wait_for_room(std::int64_t until) {
  if (until == now_or_not) return false;
  const auto now = clock_ns();
  if (now >= until) return false;
  const auto most = std::clamp<std::uint64_t>(ring_.limit() / 2, 1, UINT32_MAX);
  const auto room = job_time_.jobs_in(room_pays_after, static_cast<std::uint32_t>(most));
  MutexLock lock(room_mutex_);
  const auto target = ring_.accepted() + room - ring_.limit();
  if (static_cast<std::int64_t>(target) > 0)
    wake_at_.store(std::min(target, wake_at_.load(std::memory_order_relaxed)), std::memory_order_seq_cst);
  if (room == 1) report_each_.store(true, std::memory_order_seq_cst);
  if (ring_.closed()) return true;
  // Jobs that have become slow make room later than expected: then any room counts. And jobs of a claim of
  // several that has begun make room when they end, but only its end wakes this thread. A claim that begins
  // from now on sees `report_each_`.
  const auto at = room == 1 && !claims_several(workers_) ? until : std::min(until, now + look_interval);
  const auto ended = this->ended();  // before accepted(), and after claims_several()
  if (ring_.accepted() - ended + room <= ring_.limit()) {
    std::this_thread::yield();  // if a suspended worker keeps the slot (ring.h), for this worker
    return true;
  }
  room_.wait_until(room_mutex_, TimePoint(Duration(at)));
  return true;
}

bool Core::wait_unfinished(std::int64_t until) {
  while (ring_.unfinished() > 0) {
    MutexLock lock(room_mutex_);
    wake_at_.store(std::min(ring_.accepted(), wake_at_.load(std::memory_order_relaxed)),
                   std::memory_order_seq_cst);
    if (ring_.unfinished() == 0) break;
    if (clock_ns() >= until) return false;
    room_.wait_until(room_mutex_, TimePoint(Duration(until)));
  }
  return true;
}

void Core::finish(std::uint64_t count) {
  if (ring_.finish(count) < wake_at_.load(std::memory_order_seq_cst)) return;
  {
    MutexLock lock(room_mutex_);
    wake_at_.store(~std::uint64_t{0}, std::memory_order_seq_cst);
    report_each_.store(false, std::memory_order_seq_cst);
  }
  room_.notify_all();  // who wakes finds the mutex free
}

/// Before a job begins. Returns false if it must not: the pool is cancelled. Waits while it is paused.
bool Core::held() {
  if (control_.load(std::memory_order_relaxed) == 0) return true;
  MutexLock lock(room_mutex_);
  while (control() == paused) held_.wait(room_mutex_);
  return (control() & cancelled) == 0;
}

bool Core::has_work() const { return control() == 0 && ring_.has_work(); }
bool Core::has_unbegun_claim() const {
  return std::any_of(workers_.begin(), workers_.end(),
                     [](const auto& worker) { return worker.has_unbegun(); });
}
bool Core::wants_watcher() const {
  if (threads_.most() == 1 || control() != 0 || (!short_jobs() && !claims_several(workers_))) return false;
  return threads_.counts().awake() > 0 || ring_.has_work();
}

bool Core::needs_help() {
  const auto claimed = ring_.claimed();
  const auto progress = static_cast<std::int64_t>(claimed - std::exchange(claimed_at_last_tick_, claimed));
  moved_ = progress > 0 || ring_.has_work();
  if (control() != 0) return false;
  const auto now = clock_ns();
  for (auto& worker : workers_) {
    moved_ = moved_ || worker.claim.left() > 0;
    if (worker.overdue(now, overdue_after)) return true;
  }
  const auto awake = threads_.counts().awake();
  return ring_.has_work() &&
         (awake == 0 || progress * job_time_.average().count() < look_interval / 4 * awake);
}

Ring::Range Core::claim() {
  return ring_.claim(job_time_.jobs_in(claim_time, most_per_claim), [this] { return control() == 0; });
}

/// A job of a claim that lasts, of another worker than `own`.
std::optional<std::uint64_t> Core::take_overdue(const Worker* own, std::int64_t now) {
  if (threads_.most() == 1 || control() != 0) return std::nullopt;
  for (auto& worker : workers_) {
    if (&worker == own || !worker.overdue(now, overdue_after)) continue;
    if (const auto position = worker.claim.take()) return position;
  }
  return std::nullopt;
}

/// For about 2 µs, then the worker parks.
bool Core::search(Worker& worker, Ring::Range& range) {
  for (int i = 0; i < searches; ++i) {
    if ((range = claim()).count > 0) return true;
    if (i == 0) {
      if (const auto position = take_overdue(&worker, clock_ns())) {
        range = {*position, 1};
        return true;
      }
    }
    for (int pause = 0; pause < pauses; ++pause) relax();
  }
  return false;
}

void Core::work(std::uint32_t thread) {
  auto& worker = workers_[thread];
  for (Ring::Range range; search(worker, range); threads_.begin_search()) {
    if (threads_.end_search()) {
      call_if_needed(ring_.accepted() - ring_.claimed());
      call_watcher();
    }
    worker.now = clock_ns();
    do {
      run_claim(worker, range);
      look_for_overdue(worker);
    } while ((range = claim()).count > 0);
  }
}

/// They are older than those that nobody has claimed. The time for another try to start a thread, too.
void Core::look_for_overdue(Worker& worker) {
  if (worker.now - worker.looked_for_overdue < overdue_after) return;
  worker.looked_for_overdue = worker.now;
  if (threads_.state().start_failed.load(std::memory_order_relaxed))
    call_if_needed(ring_.accepted() - ring_.claimed());
  while (const auto position = take_overdue(&worker, worker.now)) run_claim(worker, {*position, 1});
}

void Core::run_claim(Worker& worker, Ring::Range range) {
  const auto begun = worker.now;
  if (range.count > 1) {
    worker.claim.set(range.begin + 1, range.count - 1);
    worker.claimed_at.store(begun, std::memory_order_seq_cst);  // after the claim: Worker::has_unbegun
    call_watcher();
  }
  // Read after claimed_at is written: either this worker reports each job, or who waits sees the claim.
  const bool each = range.count > 1 && report_each_.load(std::memory_order_seq_cst);
  std::uint32_t ran = 0, reported = 0;
  for (std::optional<std::uint64_t> position = range.begin; position; position = worker.claim.take()) {
    auto& count = run_job(worker, *position);
    worker.current.store(Worker::none, std::memory_order_relaxed);
    count.add(1);
    ++ran;
    if (range.count == 1) break;
    const bool goes_on = control_.load(std::memory_order_relaxed) == 0;
    if (goes_on && !each) continue;
    finish(ran - std::exchange(reported, ran));  // who waits for them must not wait for the end of a pause
    if (!goes_on && (worker.claim.left() == 0 || !held())) break;
  }
  worker.now = clock_ns();
  worker.duration.record((worker.now - begun) / ran, ran);
  job_time_.record(nanoseconds(worker.now - begun), ran);
  finish(ran - reported);
  if (range.count > 1) worker.claimed_at.store(0, std::memory_order_release);
}

OwnCount& Core::run_job(Worker& worker, std::uint64_t position) {
  auto& slot = ring_.slot(position);
  worker.next_turn = position + ring_.size();
  if (slot.submitted != 0)
    worker.wait.record(worker.now - slot.submitted, (slot.submitted & 1) != 0 ? 64 : 1);
  if (slot.details || options_.job_timeout.count() > 0) return run_detailed(worker, position, slot);
  worker.current.store(position, std::memory_order_release);
  return invoke(worker, position, slot, {});
}

OwnCount& Core::invoke(Worker& worker, std::uint64_t position, detail::Slot& slot, std::string_view name) {
  try {
    slot.run(slot, worker);
    return worker.completed;
  } catch (...) {
    report_error(options_, id(position), name);
    return worker.failed;
  }
}

OwnCount& Core::run_detailed(Worker& worker, std::uint64_t position, detail::Slot& slot) {
  const std::unique_ptr<detail::JobDetails> given(slot.details);
  const detail::JobDetails none;
  const auto& details = given ? *given : none;
  if (details.begin_by != 0 && clock_ns() > details.begin_by)
    return drop(worker, position, slot), worker.expired;
  const auto timeout = details.timeout != 0 ? details.timeout : std::int64_t{options_.job_timeout.count()};
  const auto now = clock_ns();
  const auto deadline = timeout > 0 && timeout < Timekeeper::never - now ? now + timeout : 0;
  try {
    worker.job.begin(details.name, deadline);
  } catch (const std::bad_alloc&) {  // a job whose stop cannot be requested must not run
    drop(worker, position, slot);
    report_error(options_, id(position), details.name);
    return worker.failed;
  }
  worker.current.store(position, std::memory_order_release);  // as long as the job has its name
  if (deadline != 0) timekeeper_.expect(deadline);
  if ((control() & cancelled) != 0) worker.job.request_stop();
  auto& count = invoke(worker, position, slot, details.name);
  worker.current.store(Worker::none, std::memory_order_relaxed);
  worker.job.end();
  return count;
}

/// Destroys the job.
void Core::drop(Worker& worker, std::uint64_t position, detail::Slot& slot) {
  worker.current.store(position, std::memory_order_release);
  worker.discard = true;
  slot.run(slot, worker);
  worker.discard = false;
}

std::stop_token Core::stop_token(const Worker& worker) const { return worker.job.token(cancel_); }

std::int64_t Core::look_at_timeouts(std::int64_t now) {
  auto next = Timekeeper::never;
  for (auto& worker : workers_)
    if (worker.job.check(now, next)) timed_out_.fetch_add(1, std::memory_order_relaxed);
  return next;
}

// Pausing, stopping and counting

void Core::pause() { control_.fetch_or(paused, std::memory_order_seq_cst); }

void Core::resume() {
  control_.fetch_and(~paused, std::memory_order_seq_cst);
  {
    MutexLock lock(room_mutex_);
    held_.notify_all();
  }
  call_if_needed(ring_.accepted() - ring_.claimed());
  call_watcher();
}

void Core::close() {
  ring_.close();
  MutexLock lock(room_mutex_);
  room_.notify_all();
}

void Core::cancel() {
  control_.fetch_or(cancelled, std::memory_order_seq_cst);
  {
    MutexLock lock(room_mutex_);
    held_.notify_all();
  }
  cancel_.request_stop();
  for (auto& worker : workers_) worker.job.request_stop();
}

void Core::abandon(std::vector<UnfinishedJob>& jobs) {
  unfinished_.abandon(jobs, [this] {
    abandoned_.fetch_add(1, std::memory_order_release);
    finish(1);
  });
}

bool Core::has_thread() {
  if (!threads_.state().start_failed.load(std::memory_order_relaxed)) return true;
  if (threads_.counts().threads() == 0) return threads_.call_one();
  call_if_needed(ring_.accepted() - ring_.claimed());
  return true;
}

/// Counts accepted jobs last, so that no ended or running one is missing among them.
void Core::add_to(PoolMetrics& metrics) const {
  const auto abandoned = abandoned_.load(std::memory_order_acquire);
  const auto begun = add_counts(workers_, metrics);
  const auto accepted = ring_.accepted();
  metrics.submitted += accepted;
  metrics.abandoned += abandoned;
  metrics.queued += accepted - begun - abandoned;
  metrics.queue_capacity += settings_.queue;
  const auto threads = threads_.counts();
  metrics.threads += threads.threads();
  metrics.idle += threads.sleepers();
  metrics.thread_start_failures += threads_.state().start_failures.load(std::memory_order_relaxed);
  metrics.timed_out += timed_out_.load(std::memory_order_relaxed);
  metrics.rejected_full += rejected_full_.load(std::memory_order_relaxed);
  metrics.rejected_closed += rejected_closed_.load(std::memory_order_relaxed);
}

}  // namespace laneway::worker_pool
