// The jobs that a stop finds unfinished: gives up those that have not begun, and names those that run.
//
// Ownership: what the constructor is given outlives this. Threads: any. Blocks only while a worker is between
// its claim and its first job, or a submitter fills a slot.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "laneway/pool_types.hpp"
#include "worker_pool/ring.h"
#include "worker_pool/worker.h"

namespace laneway::worker_pool {

/// The ids of a core's jobs, which are unique in the pool.
struct JobIds {
  std::uint32_t core = 0;  ///< the number of this core
  std::uint32_t cores = 1;

  std::uint64_t of(std::uint64_t position) const { return position * cores + core; }
};

class Unfinished {
 public:
  Unfinished(Ring& ring, Workers& workers, JobIds ids) : ring_(ring), workers_(workers), ids_(ids) {}

  /// Gives up the jobs that have not begun, and calls `given_up` for each.
  void abandon(std::vector<UnfinishedJob>& jobs, const std::function<void()>& given_up);
  void add_running(std::vector<UnfinishedJob>& jobs) const;

 private:
  void give_up(std::uint64_t position, std::vector<UnfinishedJob>& jobs,
               const std::function<void()>& given_up);

  Ring& ring_;
  Workers& workers_;
  const JobIds ids_;
};

}  // namespace laneway::worker_pool
