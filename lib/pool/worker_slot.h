// A slot with the pool's view of it, and the deadline check of the claim in it. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/time.h"
#include "pool/batch.h"
#include "pool/lender.h"

namespace laneway::pool {

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
  bool stuck =
      false;  ///< its job ignores its stop; another slot replaces this one until the claim is finished
  bool permit = false;       ///< the claim holds one (permits.h)
  Lender* lender = nullptr;  ///< whose slot the claim occupies; null: the pool's own

  /// The ticket of the running job; nullopt if the slot has no claim with an unanswered job, so that the
  /// claim's batch may be gone.
  std::optional<std::uint64_t> running() const {
    const auto ticket = in_use ? current() : std::nullopt;
    if (!ticket) return {};
    return std::max(*ticket, first_ticket);
  }

  /// Begins a claim.
  Claim take(const Range& jobs, TimePoint now) {
    in_use = true;
    range = jobs;
    left = 0;
    start();
    first_ticket = next_ticket;
    next_ticket += jobs.count();
    started = now;
    return {jobs, this, first_ticket};
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

}  // namespace laneway::pool
