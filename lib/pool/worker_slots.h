// The slots of a pool, in use, free or spare, and the deadline check of their claims. There may be as many
// claims at a time as workers, and one more for each stuck claim; minus the slots that are lent to other
// pools, and with each borrowed slot one more.
//
// The slots in use and the free slots are together capacity() slots; more are in use only until a resize to
// fewer workers has taken full effect. A borrowed slot is never free: it is borrowed for one claim.
// Ownership: owns the slots, which never move in memory. Threads: guarded by the pool's mutex. Nothing
// blocks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

#include "base/time.h"
#include "pool/batch.h"
#include "pool/worker_slot.h"

namespace laneway::pool {

/// A claim that takes longer is wanted back: the estimate was wrong, and nobody learns of the jobs that are
/// done in the claim before it ends.
inline constexpr Duration longest_claim = milliseconds(20);

class WorkerSlots {
 public:
  /// The stop of a job that runs longer than `job_deadline` is requested; a job that runs longer than
  /// `stuck_after` after that is stuck.
  WorkerSlots(std::uint32_t workers, Duration job_deadline, Duration stuck_after);

  void resize(std::uint32_t workers);
  /// The pool's own slots, lent or not.
  std::uint32_t most() const { return workers_ + std::min({replaceable(), workers_, most_replaced}); }
  std::uint32_t free() const { return static_cast<std::uint32_t>(free_.size()); }
  std::uint32_t in_use() const { return in_use_; }
  std::uint32_t stuck() const { return stuck_; }
  /// The number of all stops that were ever requested.
  std::uint64_t expired() const { return expired_; }

  std::uint32_t borrowed() const { return borrowed_; }
  std::uint32_t lent() const { return lent_; }

  /// Begins a claim. `weight`: the claim's, for admission. `permit`: the claim holds one. `lender`: the claim
  /// occupies a slot of it; otherwise a free slot, which must exist.
  Claim take(const Range& range, std::uint32_t weight, bool permit, TimePoint now, Lender* lender = nullptr);
  void give_back(WorkerSlot& slot);

  struct Stuck {
    std::vector<Range> jobs;
    std::uint32_t permits = 0;     ///< permits of their claims, which no longer hold them
    std::vector<Lender*> lenders;  ///< of their claims; call loan_stuck() of each
  };
  /// Checks the deadlines. Returns the jobs that are found stuck; their slots have been replaced.
  Stuck expire(TimePoint now);
  /// Lends a free slot, which must exist.
  void lend();
  void end_loan(bool stuck);
  /// A lent slot is replaced. The end of its loan may have come first.
  void replace_lent();

  void want_all_back();
  /// Requests the stop of all jobs, now and later.
  void stop_all();
  std::vector<Range> in_flight() const;
  std::vector<Overdue> overdue();

 private:
  static constexpr std::uint32_t most_replaced = 64;

  std::uint32_t capacity() const { return most() - std::min(most(), lent_) + borrowed_; }
  /// The stuck claims on the pool's own slots.
  std::uint32_t replaceable() const {
    return stuck_ - stuck_borrowed_ + static_cast<std::uint32_t>(std::max(stuck_lent_, 0));
  }
  void provide();
  WorkerSlot& spare();

  const Duration job_deadline_;
  const Duration stuck_after_;
  std::uint32_t workers_;
  std::deque<WorkerSlot> slots_;
  std::vector<WorkerSlot*> free_;
  std::vector<WorkerSlot*> spare_;
  std::uint32_t in_use_ = 0;
  std::uint32_t borrowed_ = 0;
  std::uint32_t lent_ = 0;
  std::uint32_t stuck_ = 0;  // of this pool's claims
  std::uint32_t stuck_borrowed_ = 0;
  std::int32_t stuck_lent_ = 0;  // below 0 while the report of a stuck claim is later than its end
  std::uint64_t expired_ = 0;
  bool all_stopped_ = false;
};

}  // namespace laneway::pool
