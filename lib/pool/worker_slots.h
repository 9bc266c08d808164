// The slots of a pool: which are in use, free or spare, and the deadline check of the claims in them. There
// may be as many claims at a time as there are workers, and one more for each that is stuck.
//
// In use and free are together most() slots; more are in use only while a resize to fewer workers has not
// been followed yet. Ownership: owns the slots, which stay where they are. Threads: guarded by the pool's
// mutex. Nothing blocks.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "base/time.h"
#include "pool/batch.h"
#include "pool/worker_slot.h"

namespace laneway::pool {

class WorkerSlots {
 public:
  /// A job at work for longer than `job_deadline` has its stop requested; one that goes on for longer than
  /// `stuck_after` after that is stuck.
  WorkerSlots(std::uint32_t workers, Duration job_deadline, Duration stuck_after);

  void resize(std::uint32_t workers);
  std::uint32_t most() const { return workers_ + replaced_; }
  std::uint32_t free() const { return static_cast<std::uint32_t>(free_.size()); }
  std::uint32_t stuck() const { return stuck_; }
  /// Stops that were requested, ever.
  std::uint64_t expired() const { return expired_; }

  /// A slot must be free. `weight`: of the claim, for admission.
  Claim take(const Range& range, std::uint32_t weight, TimePoint now);
  void give_back(WorkerSlot& slot);

  /// The deadline check. The jobs that are found stuck; there are slots in their place.
  std::vector<Range> expire(TimePoint now);
  void want_all_back();
  void stop_all();
  std::vector<Range> in_flight() const;

 private:
  void replace(WorkerSlot& slot);
  void provide();

  const Duration job_deadline_;
  const Duration stuck_after_;
  std::uint32_t workers_;
  std::deque<WorkerSlot> slots_;
  std::vector<WorkerSlot*> free_;
  std::vector<WorkerSlot*> spare_;
  std::uint32_t in_use_ = 0;
  std::uint32_t stuck_ = 0;
  std::uint32_t replaced_ = 0;
  std::uint64_t expired_ = 0;
};

}  // namespace laneway::pool
