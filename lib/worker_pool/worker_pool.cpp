#include "worker_pool/worker_pool.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace laneway {

using worker_pool::clock_ns;
using worker_pool::Core;

namespace {

constexpr std::int64_t never_ends = std::numeric_limits<std::int64_t>::max();

PoolOptions checked(PoolOptions options) {
  const auto refuse = [&](const std::string& why) {
    throw std::invalid_argument("pool " + options.name + ": " + why);
  };
  if (options.workers == 0) refuse("workers is 0; a pool needs at least 1");
  if (options.workers > worker_pool::ThreadCounts::most / 2)
    refuse("workers is " + std::to_string(options.workers));
  if (options.min_workers > options.workers)
    refuse("min_workers is " + std::to_string(options.min_workers) + ", more than workers, which is " +
           std::to_string(options.workers));
  if (options.queue > std::numeric_limits<std::uint32_t>::max())
    refuse("queue is too long; it must be below 2^32");
  if (options.idle < std::chrono::nanoseconds::zero() ||
      options.job_timeout < std::chrono::nanoseconds::zero())
    refuse("idle and job_timeout must not be negative");
  return options;
}

/// A moment of another steady clock, or a time from now, in ns of ours; the ends of the range stay.
std::int64_t after(std::chrono::nanoseconds time) {
  const auto now = clock_ns();
  return time.count() > never_ends - now ? never_ends : now + time.count();
}
std::int64_t ours(WorkerPool::Clock::time_point at) {
  if (at == WorkerPool::Clock::time_point::max()) return never_ends;
  if (at == WorkerPool::Clock::time_point::min()) return std::numeric_limits<std::int64_t>::min();
  const auto now = WorkerPool::Clock::now();
  return at <= now ? clock_ns() : after(at - now);
}

/// Names this thread as long as it is in a call.
class CallOfThisThread {
 public:
  explicit CallOfThisThread(std::atomic<std::thread::id>& caller) : caller_(caller) {
    caller_ = std::this_thread::get_id();
  }
  ~CallOfThisThread() { caller_ = std::thread::id(); }
  CallOfThisThread(const CallOfThisThread&) = delete;
  CallOfThisThread& operator=(const CallOfThisThread&) = delete;

 private:
  std::atomic<std::thread::id>& caller_;
};

std::string jobs_text(const std::vector<UnfinishedJob>& jobs) {
  constexpr std::size_t shown = 10;
  std::string text;
  for (std::size_t i = 0; i < std::min(jobs.size(), shown); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(jobs[i].id);
    if (!jobs[i].name.empty()) text += " " + jobs[i].name;
  }
  return jobs.size() > shown ? text + ", …" : text;
}

}  // namespace

WorkerPool::Implementation::Implementation(PoolOptions given)
    : options(checked(std::move(given))),
      timekeeper([this](std::int64_t now) {
        auto next = worker_pool::Timekeeper::never;
        for (const auto& core : cores) next = std::min(next, core->look_at_timeouts(now));
        return next;
      }),
      paused(options.paused) {
  const bool shared = options.distribution == Distribution::shared;
  const std::uint32_t count = shared ? 1 : options.workers;
  cores.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    Core::Settings settings;
    settings.workers = shared ? options.workers : 1;
    settings.least = shared ? options.min_workers : (i < options.min_workers ? 1 : 0);
    settings.queue = (options.queue + count - 1 - i) / count;  // the shares add up to `queue`
    settings.ids = {i, count};
    settings.paused = options.paused;
    cores.push_back(std::make_unique<Core>(options, settings, timekeeper));
  }
}

WorkerPool::Implementation::~Implementation() {
  for (const auto& core : cores) core->end();
}

Core& WorkerPool::Implementation::core_for(const JobOptions* job) {
  if (cores.size() == 1) return *cores.front();
  if (options.distribution == Distribution::by_key && job && !job->key.empty())
    return *cores[std::hash<std::string_view>()(job->key) % cores.size()];
  return *cores[turn.fetch_add(1, std::memory_order_relaxed) % cores.size()];
}

/// Of all cores first the finished jobs, then the accepted ones: if the sums are equal, there was a moment
/// between at which no core had an unfinished job, also if jobs submit to another core.
std::uint64_t WorkerPool::Implementation::unfinished() const {
  std::uint64_t finished = 0, accepted = 0;
  for (const auto& core : cores) finished += core->ring().finished();
  for (const auto& core : cores) accepted += core->ring().accepted();
  return accepted - finished;
}

bool WorkerPool::Implementation::wait_unfinished(std::int64_t until) {
  do {
    for (const auto& core : cores)
      if (!core->wait_unfinished(until)) return false;
  } while (unfinished() > 0);  // submitted to a core that was waited for before
  return true;
}

bool WorkerPool::Implementation::is_own_worker() const {
  return std::any_of(cores.begin(), cores.end(), [](const auto& core) { return core->threads().is_mine(); });
}

/// Several calls wait for the first.
StopReport WorkerPool::Implementation::stop(std::chrono::nanoseconds drain, std::chrono::nanoseconds cancel) {
  MutexLock lock(stop_mutex);
  if (report) return *report;
  StopReport result;
  const CallOfThisThread call(stopper);
  closed = true;
  stopping = true;
  for (const auto& core : cores) core->close();
  for (const auto& core : cores) core->resume();
  paused = false;
  result.drained = wait_unfinished(after(drain));
  if (!result.drained) give_up(result, after(cancel));
  if (result.running.empty())
    for (const auto& core : cores) core->end();
  result.text = text_of(result);
  report = result;
  stopped = true;
  return result;
}

void WorkerPool::Implementation::give_up(StopReport& result, std::int64_t until) {
  for (const auto& core : cores) core->cancel();
  for (const auto& core : cores) core->abandon(result.abandoned);
  if (!wait_unfinished(until))
    for (const auto& core : cores) core->add_running(result.running);
  const auto by_id = [](const auto& a, const auto& b) { return a.id < b.id; };
  std::sort(result.abandoned.begin(), result.abandoned.end(), by_id);
  std::sort(result.running.begin(), result.running.end(), by_id);
}

std::string WorkerPool::Implementation::text_of(const StopReport& of) const {
  if (of.drained) return "drained";
  std::string text = "pool " + options.name + ": drain timed out";
  if (!of.abandoned.empty())
    text += "; abandoned jobs: " + std::to_string(of.abandoned.size()) + " (" + jobs_text(of.abandoned) + ")";
  if (!of.running.empty())
    text += "; still running: " + std::to_string(of.running.size()) + " (" + jobs_text(of.running) + ")";
  return text;
}

WorkerPool::WorkerPool(PoolOptions options) : implementation_(new Implementation(std::move(options))) {}

WorkerPool::~WorkerPool() {
  implementation_->stop(implementation_->options.drain, implementation_->options.cancel);
}

WorkerPool::Reserved WorkerPool::reserve(std::uint32_t wanted, const JobOptions* options, Wait wait) {
  auto& core = implementation_->core_for(options);
  std::unique_ptr<detail::JobDetails> details;
  if (options && (!options->name.empty() || options->timeout.count() != 0 || options->begin_by)) {
    const auto begin_by = options->begin_by ? ours(*options->begin_by) : 0;
    details = std::make_unique<detail::JobDetails>(
        detail::JobDetails{options->name, options->timeout.count(), begin_by});
  }
  if (implementation_->cores.size() > 1) wanted = 1;
  Reserved reserved{core.ring().slots(), core.ring().size() - 1, 0, &core, {}};
  const bool waits = wait.until != Clock::time_point::min();
  reserved.answer =
      core.reserve(wanted, details.get(), waits ? ours(wait.until) : Core::now_or_not, reserved.position);
  if (reserved.answer) static_cast<void>(details.release());
  return reserved;
}

void WorkerPool::publish(const Reserved& reserved) {
  static_cast<Core*>(reserved.queue)->publish(reserved.position, reserved.answer.accepted);
}

void WorkerPool::refuse_own_worker(const char* function) const {
  if (implementation_->is_own_worker())
    throw std::logic_error("pool " + implementation_->options.name + ": " + function +
                           "() was called by a job of the same pool, which it would wait for");
}

void WorkerPool::pause() {
  implementation_->paused = true;
  for (const auto& core : implementation_->cores) core->pause();
  if (implementation_->stopping) resume();  // either here or in stop(): a stop is not held up
}

void WorkerPool::resume() {
  implementation_->paused = false;
  for (const auto& core : implementation_->cores) core->resume();
}

void WorkerPool::close() {
  implementation_->closed = true;
  for (const auto& core : implementation_->cores) core->close();
}

StopReport WorkerPool::stop(std::chrono::nanoseconds drain, std::chrono::nanoseconds cancel) {
  refuse_own_worker("stop");
  if (implementation_->stopper == std::this_thread::get_id())
    throw std::logic_error("pool " + implementation_->options.name +
                           ": stop() was called by a stop callback that stop() runs");
  return implementation_->stop(drain, cancel);
}

StopReport WorkerPool::stop(std::chrono::nanoseconds drain) {
  return stop(drain, implementation_->options.cancel);
}

void WorkerPool::wait_idle() {
  refuse_own_worker("wait_idle");
  implementation_->wait_unfinished(never_ends);
}

bool WorkerPool::wait_idle_for(std::chrono::nanoseconds time) {
  refuse_own_worker("wait_idle_for");
  return implementation_->wait_unfinished(after(time));
}

PoolState WorkerPool::state() const {
  const auto& self = *implementation_;
  if (self.stopped) return PoolState::stopped;
  if (self.closed) return PoolState::draining;
  if (self.paused) return PoolState::paused;
  const bool unused = std::all_of(self.cores.begin(), self.cores.end(),
                                  [](const auto& core) { return core->ring().accepted() == 0; });
  return unused ? PoolState::initialized : PoolState::running;
}

PoolHealth WorkerPool::health() const {
  const auto& self = *implementation_;
  const auto name = "pool " + self.options.name + ": ";
  if (self.stopped) return {false, name + "stopped"};
  if (self.closed) return {false, name + "draining"};
  std::uint32_t late = 0;
  for (const auto& core : self.cores) late += worker_pool::jobs_past_timeout(core->workers());
  if (late >= self.options.workers)
    return {false, name + "all " + std::to_string(late) + " workers run jobs that are past their timeout"};
  for (const auto& core : self.cores)
    if (!core->has_thread()) return {false, name + "no thread could be started"};
  return {};
}

PoolMetrics WorkerPool::metrics() const {
  PoolMetrics metrics;
  for (const auto& core : implementation_->cores) core->add_to(metrics);
  metrics.thread_start_failures += implementation_->timekeeper.start_failures();
  return metrics;
}

std::string Submission::text() const {
  const auto of = std::to_string(length) + "/" + std::to_string(capacity);
  switch (verdict) {
    case Verdict::accepted:
      return "accepted";
    case Verdict::full:
      return "job queue full (" + of + ")";
    case Verdict::closed:
      return "pool closed; not accepting new jobs";
    case Verdict::no_job:
      return "the job is empty: a null function cannot be run";
    case Verdict::no_thread:
      return "the pool has no thread, and the system refused to start one";
  }
  return {};
}

std::uint64_t DurationCounts::count() const {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

std::chrono::nanoseconds DurationCounts::quantile(double q) const {
  const auto all = count();
  if (all == 0) return std::chrono::nanoseconds::zero();
  const auto rank =
      std::max<std::uint64_t>(1, static_cast<std::uint64_t>(q * static_cast<double>(all) + 0.5));
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < counts.size(); ++i)
    if ((seen += counts[i]) >= rank) return bound(i);
  return bound(counts.size() - 1);
}

}  // namespace laneway
