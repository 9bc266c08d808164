// The jobs that a stop finds unfinished: gives up those that have not begun, and names those that run.
//
// Ownership: what the constructor is given outlives this. Threads: any. Blocks only while a worker is between
// its claim and its first job, or a submitter fills a slot.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "laneway/pool_types.hpp"
#include "worker_pool/crew.h"
#include "worker_pool/ring.h"

namespace laneway::worker_pool {

class Unfinished {
 public:
  /// `number` of `cores`: ids are unique in the pool.
  Unfinished(Ring& ring, const Crew& crew, std::uint32_t number, std::uint32_t cores)
      : ring_(ring), crew_(crew), number_(number), cores_(cores) {}

  /// Gives up the jobs that have not begun, and calls `given_up` for each.
  void abandon(std::vector<UnfinishedJob>& jobs, const std::function<void()>& given_up);
  void add_running(std::vector<UnfinishedJob>& jobs) const;
  std::uint64_t id(std::uint64_t position) const { return position * cores_ + number_; }

 private:
  void give_up(std::uint64_t position, std::vector<UnfinishedJob>& jobs);

  Ring& ring_;
  const Crew& crew_;
  const std::uint32_t number_, cores_;
};

}  // namespace laneway::worker_pool
