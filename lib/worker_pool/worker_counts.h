// What the workers of a core have counted, and what they do now. Threads: any may call everything.
#pragma once

#include "laneway/pool_types.hpp"
#include "worker_pool/worker.h"

namespace laneway::worker_pool {

/// The number of jobs that the workers brought to their end.
std::uint64_t ended_jobs(const Workers& workers);

/// Whether a claim of several jobs is under way.
bool claims_several(const Workers& workers);

std::uint32_t jobs_past_timeout(const Workers& workers);

/// Adds what the workers know. Returns the number of jobs that had ended or run.
std::uint64_t add_counts(const Workers& workers, PoolMetrics& metrics);

}  // namespace laneway::worker_pool
