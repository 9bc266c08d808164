#include "worker_pool/worker_counts.h"

#include <algorithm>

namespace laneway::worker_pool {

std::uint64_t ended_jobs(const Workers& workers) {
  std::uint64_t sum = 0;
  for (const auto& worker : workers) sum += worker.ended();
  return sum;
}

bool claims_several(const Workers& workers) {
  return std::any_of(workers.begin(), workers.end(), [](const auto& worker) {
    return worker.claimed_at.load(std::memory_order_seq_cst) != 0;
  });
}

std::uint32_t jobs_past_timeout(const Workers& workers) {
  std::uint32_t count = 0;
  for (const auto& worker : workers) count += worker.job.past_timeout() ? 1 : 0;
  return count;
}

/// Of each worker first the ended jobs, then the running one, so that no job is counted twice.
std::uint64_t add_counts(const Workers& workers, PoolMetrics& metrics) {
  std::uint64_t begun = 0;
  for (const auto& worker : workers) {
    const auto completed = worker.completed.get(), failed = worker.failed.get();
    const auto expired = worker.expired.get();
    const bool runs = worker.current.load(std::memory_order_acquire) != Worker::none;
    begun += completed + failed + expired + (runs ? 1 : 0);
    metrics.completed += completed;
    metrics.failed += failed;
    metrics.expired += expired;
    metrics.running += runs ? 1 : 0;
    worker.wait.add_to(metrics.wait);
    worker.duration.add_to(metrics.duration);
  }
  return begun;
}

}  // namespace laneway::worker_pool
