// The reasons for which a lane is held: one table with all properties of a reason.
//
// A new reason is an enumerator and a row; a row that is missing, or out of order, does not compile.
// HoldRules sets and releases the reasons, and a test compares the words with docs/troubleshooting.md. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace laneway::lane {

enum class Hold : std::uint8_t {
  pool_full,     ///< The pool rejected records.
  window_full,   ///< max_incomplete records from the oldest incomplete one to the newest.
  memory_full,   ///< The lane's share of lanes.memory is taken.
  retries_full,  ///< retry.max_waiting records wait for their next attempt.
  breaker_open,  ///< The downstream is out, and records wait that will call it.
  rate_limited,  ///< lanes.rate, rate or the downstream's pace: it is too early for the next record.
  map_full,      ///< The completion map does not fit into a commit that needs all of it.
  suspended,     ///< An operator has suspended the lane (suspensions.h).
  position,      ///< The position in the log is in doubt, or a corrupt batch is in the way.
  count,         ///< The number of reasons; not a reason.
};

/// The row of a reason, for arrays with an element for each reason.
constexpr std::size_t index_of(Hold reason) { return static_cast<std::size_t>(reason); }

/// A set of reasons.
using HoldBits = std::uint16_t;
constexpr HoldBits bit(Hold reason) { return static_cast<HoldBits>(1U << index_of(reason)); }
static_assert(index_of(Hold::count) <= 8 * sizeof(HoldBits), "HoldBits has a bit for each reason");

struct HoldReason {
  Hold hold;
  std::string_view words;  ///< for people, as `held_by` of the status
  /// The lane stays paused while this reason remains. Otherwise the lane resumes fetching when it has nearly
  /// finished its records: finishing them ends the reason, or (rate_limited) the lane checks the time as
  /// well.
  bool lasts;
};

inline constexpr std::array hold_reasons{
    HoldReason{Hold::pool_full, "pool full", false},
    HoldReason{Hold::window_full, "max_incomplete reached", true},
    HoldReason{Hold::memory_full, "share of lanes.memory taken", true},
    HoldReason{Hold::retries_full, "retry.max_waiting reached", true},
    HoldReason{Hold::breaker_open, "breaker open", true},
    HoldReason{Hold::rate_limited, "rate limit", false},
    HoldReason{Hold::map_full, "completion map too long for a transaction", true},
    HoldReason{Hold::suspended, "suspended", true},
    HoldReason{Hold::position, "position in doubt", false},
};

/// The reasons that keep a lane paused, whatever else is true.
constexpr HoldBits reasons_that_last() {
  HoldBits bits = 0;
  for (const auto& row : hold_reasons)
    if (row.lasts) bits = static_cast<HoldBits>(bits | bit(row.hold));
  return bits;
}

namespace hold_table {
constexpr bool in_order() {
  for (std::size_t i = 0; i < hold_reasons.size(); ++i)
    if (index_of(hold_reasons[i].hold) != i) return false;
  return true;
}
}  // namespace hold_table
static_assert(hold_reasons.size() == index_of(Hold::count) && hold_table::in_order(),
              "each reason has a row, and the rows are in the order of the enumerators");

}  // namespace laneway::lane
