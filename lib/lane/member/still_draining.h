// Counts the members of one process that have not drained yet. No member leaves the group before all have
// committed: the others' commits do not meet the rebalance that a leave begins, and the group rebalances
// once, not once for each member.
//
// Threads: any. Nothing blocks.
#pragma once

#include <atomic>
#include <cstddef>

namespace laneway::lane {

class StillDraining {
 public:
  void add() { members_.fetch_add(1, std::memory_order_relaxed); }
  void remove() { members_.fetch_sub(1, std::memory_order_acq_rel); }
  bool none() const { return members_.load(std::memory_order_acquire) == 0; }

 private:
  std::atomic<std::size_t> members_{0};
};

}  // namespace laneway::lane
