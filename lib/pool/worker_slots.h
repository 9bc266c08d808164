// The slots of a pool, in use, free or spare, and the deadline check of their claims. There may be as many
// claims at a time as workers, and one more for each stuck claim.
//
// The slots in use and the free slots are together most() slots; more are in use only until a resize to fewer
// workers has taken full effect. Ownership: owns the slots, which never move in memory. Threads: guarded by
// the pool's mutex. Nothing blocks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

#include "base/time.h"
#include "pool/batch.h"
#include "pool/worker_slot.h"

namespace laneway::pool {

class WorkerSlots {
 public:
  /// The stop of a job that runs longer than `job_deadline` is requested; a job that runs longer than
  /// `stuck_after` after that is stuck.
  WorkerSlots(std::uint32_t workers, Duration job_deadline, Duration stuck_after);

  void resize(std::uint32_t workers);
  std::uint32_t most() const { return workers_ + std::min({stuck_, workers_, most_replaced}); }
  std::uint32_t free() const { return static_cast<std::uint32_t>(free_.size()); }
  std::uint32_t in_use() const { return in_use_; }
  std::uint32_t stuck() const { return stuck_; }
  /// The number of all stops that were ever requested.
  std::uint64_t expired() const { return expired_; }

  /// Takes a free slot, which must exist. `weight`: the claim's, for admission.
  /// `permit`: the claim holds one.
  Claim take(const Range& range, std::uint32_t weight, bool permit, TimePoint now);
  void give_back(WorkerSlot& slot);

  struct Stuck {
    std::vector<Range> jobs;
    std::uint32_t permits = 0;  ///< permits of their claims, which no longer hold them
  };
  /// Checks the deadlines. Returns the jobs that are found stuck; their slots have been replaced.
  Stuck expire(TimePoint now);
  void want_all_back();
  void stop_all();
  std::vector<Range> in_flight() const;

 private:
  static constexpr std::uint32_t most_replaced = 64;

  void provide();

  const Duration job_deadline_;
  const Duration stuck_after_;
  std::uint32_t workers_;
  std::deque<WorkerSlot> slots_;
  std::vector<WorkerSlot*> free_;
  std::vector<WorkerSlot*> spare_;
  std::uint32_t in_use_ = 0;
  std::uint32_t stuck_ = 0;
  std::uint64_t expired_ = 0;
};

}  // namespace laneway::pool
