// A slot as the pool sees it, and the deadline check of the claim in it. Pure.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.h"
#include "pool/batch.h"

namespace laneway::pool {

/// A slot with what the pool knows about the claim in it. Guarded by the pool's mutex, except that the
/// claim's finisher may read `started`.
struct WorkerSlot : Slot {
  bool in_use = false;
  Range range;
  std::uint32_t weight = 0;  // of the claim, for admission: its batch may be gone when it is finished
  std::uint64_t next_ticket = 1;
  std::uint64_t first_ticket = 0;
  TimePoint started;
  // The deadline check: which ticket it saw at work, since when, and whether that one's stop was requested.
  std::uint64_t seen_ticket = 0;
  TimePoint seen_since;
  bool expired = false;
  bool stuck = false;     ///< its job ignores its stop
  bool replaced = false;  ///< so another slot is used until it is finished

  /// It has a claim, and not every job of it is answered: its batch is there.
  bool at_work() const { return in_use && !answered(); }

  /// True once for each ticket that is found to have been at work for longer than `limit`.
  bool expires(TimePoint now, Duration limit) {
    const std::uint64_t ticket = std::max(current(), first_ticket);
    if (ticket != seen_ticket) {
      seen_ticket = ticket;
      seen_since = ticket == first_ticket ? started : now;
      expired = false;
    }
    if (expired || now - seen_since <= limit) return false;
    expired = true;
    return true;
  }

  /// True once for a claim whose job has ignored its stop for longer than `grace`. After expires().
  bool gets_stuck(TimePoint now, Duration limit, Duration grace) {
    if (stuck || !expired || now - seen_since <= limit + grace) return false;
    stuck = true;
    return true;
  }
  /// The job that is at work.
  Range job() const {
    const auto index = range.begin + static_cast<std::uint32_t>(seen_ticket - first_ticket);
    return {range.batch, index, index + 1};
  }
};

}  // namespace laneway::pool
