// What the workers of a crew have counted, and what they do now. Threads: any may call everything.
#pragma once

#include "laneway/pool_types.hpp"
#include "worker_pool/crew.h"

namespace laneway::worker_pool {

/// The number of jobs that the workers brought to their end.
std::uint64_t ended_jobs(const Crew& crew);

/// Whether a claim of several jobs is under way.
bool claims_several(const Crew& crew);

std::uint32_t jobs_past_timeout(const Crew& crew);

/// Adds what the crew knows. Returns the number of jobs that had ended or run.
std::uint64_t add_counts(const Crew& crew, PoolMetrics& metrics);

}  // namespace laneway::worker_pool
