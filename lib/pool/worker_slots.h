// The slots of a pool, in use, free or spare, and the deadline check of their claims. There may be as many
// claims at a time as workers, and one more for each stuck claim; minus the slots that are lent to other
// pools, and with each borrowed slot one more.
//
// The own slots in use and the free slots are together as many as are not lent; more are in use only until a
// resize to fewer workers has taken full effect. A borrowed slot is never free: it is borrowed for one claim.
// Ownership: owns the slots, which never move in memory. Threads: guarded by the pool's mutex. Nothing
// blocks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "base/time.h"
#include "pool/batch.h"

namespace laneway::pool {

/// A pool that lends its slots to the pools that it helps, as these see it (help.h).
class Lender {
 public:
  /// The claim on a lent slot is stuck: another slot replaces the lent one.
  virtual void loan_stuck() = 0;
  /// The claim is finished, or none began. `stuck`: it was found stuck; loan_stuck() may come later than
  /// this.
  virtual void loan_ended(bool stuck) = 0;

 protected:
  ~Lender() = default;
};

/// A claim that takes longer is wanted back: the estimate was wrong, and nobody learns of the jobs that are
/// done in the claim before it ends.
inline constexpr Duration longest_claim = milliseconds(20);

/// A slot with the pool's data about the claim in it. Guarded by the pool's mutex, except that the claim's
/// finisher may read `started`.
struct WorkerSlot : Slot {
  bool in_use = false;
  Range range;
  // the claim's weight for admission, because its batch may be gone when the claim is finished
  std::uint32_t weight = 0;
  std::uint32_t left = 0;  ///< jobs that have left the claim early
  std::uint64_t next_ticket = 1;
  std::uint64_t first_ticket = 0;
  TimePoint started;
  // The deadline check: the ticket that it last saw running, since when, and whether that job's stop was
  // requested.
  std::uint64_t seen_ticket = 0;
  TimePoint seen_since;
  bool expired = false;
  /// Its job ignores its stop; another slot replaces this one until the claim is finished.
  bool stuck = false;
  bool permit = false;       ///< the claim holds one (permits.h)
  bool own_share = false;    ///< the claim went before waiting jobs of other pools (own_share.h)
  Lender* lender = nullptr;  ///< whose slot the claim occupies; null: the pool's own

  /// The ticket of the running job; nullopt if the slot has no claim with an unanswered job, so that the
  /// claim's batch may be gone.
  std::optional<std::uint64_t> running() const {
    const auto ticket = in_use ? current() : std::nullopt;
    if (!ticket) return {};
    return std::max(*ticket, first_ticket);
  }

  /// The jobs that may be running; empty if the claim is answered.
  Range at_work() const {
    const auto ticket = running();
    if (!ticket) return {};
    if (!one_by_one()) return range;
    const auto index = index_of(*ticket);
    return {range.batch, index, index + 1};
  }
  std::uint32_t index_of(std::uint64_t ticket) const {
    return range.begin + static_cast<std::uint32_t>(ticket - first_ticket);
  }

  /// Returns true once for each ticket that has been running for longer than `limit`.
  bool expires(std::uint64_t ticket, TimePoint now, Duration limit) {
    if (ticket != seen_ticket) {
      seen_ticket = ticket;
      seen_since = ticket == first_ticket ? started : now;
      expired = false;
    }
    if (expired || now - seen_since <= limit) return false;
    expired = true;
    return true;
  }

  /// Returns true once for a claim whose job has ignored its stop for longer than `grace`. Call after
  /// expires().
  bool gets_stuck(TimePoint now, Duration limit, Duration grace) {
    if (stuck || !expired || now - seen_since <= limit + grace) return false;
    stuck = true;
    return true;
  }
  /// The job that the deadline check saw running.
  Range seen_job() const {
    const auto index = index_of(seen_ticket);
    return {range.batch, index, index + 1};
  }
};

class WorkerSlots {
 public:
  struct Counts {
    std::uint32_t most = 0;  ///< the pool's own slots, lent or not
    std::uint32_t free = 0;
    std::uint32_t in_use = 0;  ///< claims on own slots
    std::uint32_t lent = 0;
    std::uint32_t borrowed = 0;  ///< claims on slots of other pools
    std::uint32_t stuck = 0;     ///< of this pool's claims
    std::uint64_t expired = 0;   ///< all stops that were ever requested
  };

  /// The stop of a job that runs longer than `job_deadline` is requested; a job that runs longer than
  /// `stuck_after` after that is stuck.
  WorkerSlots(std::uint32_t workers, Duration job_deadline, Duration stuck_after);

  void resize(std::uint32_t workers);
  const Counts& counts() const { return counts_; }

  /// Begins a claim. `weight`: the claim's, for admission. `permit`: the claim holds one. `lender`: the claim
  /// occupies a slot of it; otherwise a free slot, which must exist.
  Claim take(const Range& range, std::uint32_t weight, bool permit, TimePoint now, Lender* lender = nullptr);
  void give_back(WorkerSlot& slot);

  struct Stuck {
    std::vector<Range> jobs;
    std::uint32_t permits = 0;     ///< permits of their claims, which no longer hold them
    std::uint32_t own_share = 0;   ///< claims in the own share, which no longer count in it
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

  void provide();
  WorkerSlot& spare();

  const Duration job_deadline_;
  const Duration stuck_after_;
  std::uint32_t workers_;
  std::deque<WorkerSlot> slots_;
  std::vector<WorkerSlot*> free_;
  std::vector<WorkerSlot*> spare_;
  Counts counts_;
  std::uint32_t stuck_borrowed_ = 0;
  std::int32_t stuck_lent_ = 0;  // below 0 while the report of a stuck claim is later than its end
  bool all_stopped_ = false;
};

}  // namespace laneway::pool
