// Pausing, stopping and counting: what does not run jobs.
#include <memory>
#include <new>
#include <thread>
#include <utility>

#include "worker_pool/core.h"

namespace laneway::worker_pool {

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
  for (const auto& worker : crew_.workers()) worker->job.request_stop();
}

/// Until each accepted job has ended, runs as the current one of a worker, or is given up. A worker that has
/// claimed jobs and shows neither a claim nor a current job yet is waited for; a user's code does not run
/// there.
void Core::abandon(std::vector<UnfinishedJob>& jobs) {
  do {
    while (ring_.has_work()) {
      const auto range = ring_.claim(Tempo::most_per_claim, [] { return true; });
      for (std::uint32_t i = 0; i < range.count; ++i) give_up(range.begin + i, jobs);
      if (range.count == 0) std::this_thread::yield();  // a submitter is filling the slot
    }
    for (const auto& worker : crew_.workers())
      while (const auto position = worker->claim.take()) give_up(*position, jobs);
    if (!ring_.has_unbegun()) return;
    std::this_thread::yield();
  } while (true);
}

void Core::give_up(std::uint64_t position, std::vector<UnfinishedJob>& jobs) {
  auto& slot = ring_.slot(position);
  const std::unique_ptr<detail::JobDetails> details(slot.details);
  try {
    jobs.push_back({id(position), details ? std::move(details->name) : std::string()});
  } catch (const std::bad_alloc&) {  // the job is given up and counted, but not reported
  }
  detail::Runner nobody;
  nobody.next_turn = position + ring_.size();
  nobody.discard = true;
  slot.run(slot, nobody);
  abandoned_.fetch_add(1, std::memory_order_release);
  finish(1);
}

/// A job may end while its name is read; one that is still the current one after that has this name.
void Core::add_running(std::vector<UnfinishedJob>& jobs) const {
  for (const auto& worker : crew_.workers())
    for (auto position = worker->current.load(std::memory_order_acquire); position != Worker::none;) {
      auto name = worker->job.name();
      const auto read = std::exchange(position, worker->current.load(std::memory_order_acquire));
      if (position != read) continue;
      jobs.push_back({id(position), std::move(name)});
      break;
    }
}

bool Core::has_thread() {
  if (!crew_.start_failed()) return true;
  if (crew_.presence().threads() == 0) return crew_.call_one();
  call_if_needed(ring_.accepted() - ring_.claimed());
  return true;
}

/// Counts accepted jobs last, so that no ended or running one is missing among them.
void Core::add_to(PoolMetrics& metrics) const {
  const auto abandoned = abandoned_.load(std::memory_order_acquire);
  const auto begun = add_counts(crew_, metrics);
  const auto accepted = ring_.accepted();
  metrics.submitted += accepted;
  metrics.abandoned += abandoned;
  metrics.queued += accepted - begun - abandoned;
  metrics.queue_capacity += settings_.queue;
  metrics.timed_out += timed_out_.load(std::memory_order_relaxed);
  metrics.rejected_full += rejected_full_.load(std::memory_order_relaxed);
  metrics.rejected_closed += rejected_closed_.load(std::memory_order_relaxed);
}

}  // namespace laneway::worker_pool
