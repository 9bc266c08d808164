#include "worker_pool/unfinished.h"

#include <memory>
#include <new>
#include <thread>
#include <utility>

#include "worker_pool/job_details.h"

namespace laneway::worker_pool {

/// Until each accepted job has ended, runs as the current one of a worker, or is given up. A worker that has
/// claimed jobs and shows neither a claim nor a current job yet is waited for; a user's code does not run
/// there.
void Unfinished::abandon(std::vector<UnfinishedJob>& jobs, const std::function<void()>& given_up) {
  do {
    while (ring_.has_work()) {
      const auto range = ring_.claim(most_per_claim, [] { return true; });
      for (std::uint32_t i = 0; i < range.count; ++i) give_up(range.begin + i, jobs, given_up);
      if (range.count == 0) std::this_thread::yield();  // a submitter is filling the slot
    }
    for (auto& worker : workers_)
      while (const auto position = worker.claim.take()) give_up(*position, jobs, given_up);
    if (!ring_.has_unbegun()) return;
    std::this_thread::yield();
  } while (true);
}

void Unfinished::give_up(std::uint64_t position, std::vector<UnfinishedJob>& jobs,
                         const std::function<void()>& given_up) {
  auto& slot = ring_.slot(position);
  const std::unique_ptr<detail::JobDetails> details(slot.details);
  try {
    jobs.push_back({ids_.of(position), details ? std::move(details->name) : std::string()});
  } catch (const std::bad_alloc&) {  // the job is given up and counted, but not reported
  }
  detail::Runner nobody;
  nobody.next_turn = position + ring_.size();
  nobody.discard = true;
  slot.run(slot, nobody);
  given_up();
}

/// A job may end while its name is read; one that is still the current one after that has this name.
void Unfinished::add_running(std::vector<UnfinishedJob>& jobs) const {
  for (auto& worker : workers_)
    for (auto position = worker.current.load(std::memory_order_acquire); position != Worker::none;) {
      auto name = worker.job.name();
      const auto read = std::exchange(position, worker.current.load(std::memory_order_acquire));
      if (position != read) continue;
      jobs.push_back({ids_.of(position), std::move(name)});
      break;
    }
}

}  // namespace laneway::worker_pool
