// The reasons for which a lane is held: one table with all properties of a reason.
//
// A new reason is an enumerator, a row, and a case in HoldRules::applies; without one of them, or with the
// rows out of order, it does not compile. HoldRules sets and releases the reasons, and a test compares the
// words with docs/troubleshooting.md. Pure.
#pragma once

#include <algorithm>
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
constexpr HoldBits bit(Hold reason) { return static_cast<HoldBits>(1U << static_cast<unsigned>(reason)); }
static_assert(index_of(Hold::count) <= 8 * sizeof(HoldBits), "HoldBits has a bit for each reason");

/// What kind of thing holds a lane, for programs: a new reason of a known kind needs no change of theirs.
enum class HoldCause : std::uint8_t {
  limit,        ///< a limit of the lane or of the service
  downstream,   ///< the downstream is out, or asks for fewer calls
  source,       ///< the partition: its log, or what the brokers say about it
  by_operator,  ///< a command
};
inline constexpr std::array hold_causes{"limit", "downstream", "source", "operator"};
constexpr const char* name_of(HoldCause cause) { return hold_causes.at(static_cast<std::size_t>(cause)); }
static_assert(name_of(HoldCause::by_operator) == hold_causes.back(), "a name for each cause");

/// Who finds out whether a reason is present. They are asked in this order.
enum class HoldSetter : std::uint8_t {
  pools,     ///< Stages::blocked
  lane,      ///< HoldRules::applies
  rate,      ///< both of them, after the others: a lane that is held anyhow does not wait for its rate
  by_owner,  ///< the reason's owner, which calls HoldRules::set
};

struct HoldReason {
  Hold hold;
  const char* code;        ///< in the JSON of the status; never changes
  std::string_view words;  ///< for people, as `held_by` of the status
  HoldCause cause;
  HoldSetter set_by;
  /// The lane stays paused while this reason remains. Otherwise the lane resumes fetching when it has nearly
  /// finished its records: finishing them ends the reason, or (rate_limited) the lane checks the time as
  /// well.
  bool lasts;
};

inline constexpr std::array hold_reasons{
    HoldReason{Hold::pool_full, "pool_full", "pool full", HoldCause::limit, HoldSetter::pools, false},
    HoldReason{Hold::window_full, "window_full", "max_incomplete reached", HoldCause::limit, HoldSetter::lane,
               true},
    HoldReason{Hold::memory_full, "memory_full", "share of lanes.memory taken", HoldCause::limit,
               HoldSetter::lane, true},
    HoldReason{Hold::retries_full, "retries_full", "retry.max_waiting reached", HoldCause::limit,
               HoldSetter::pools, true},
    HoldReason{Hold::breaker_open, "breaker_open", "breaker open", HoldCause::downstream, HoldSetter::pools,
               true},
    HoldReason{Hold::rate_limited, "rate_limited", "rate limit", HoldCause::limit, HoldSetter::rate, false},
    HoldReason{Hold::map_full, "map_full", "completion map too long for a transaction", HoldCause::limit,
               HoldSetter::by_owner, true},
    HoldReason{Hold::suspended, "suspended", "suspended", HoldCause::by_operator, HoldSetter::by_owner, true},
    HoldReason{Hold::position, "position", "position in doubt", HoldCause::source, HoldSetter::lane, false},
};

/// The reasons that keep a lane paused, whatever else is true.
constexpr HoldBits reasons_that_last() {
  HoldBits bits = 0;
  for (const auto& row : hold_reasons)
    if (row.lasts) bits = static_cast<HoldBits>(bits | bit(row.hold));
  return bits;
}

constexpr const HoldReason& row_of(Hold reason) { return hold_reasons[index_of(reason)]; }
static_assert(hold_reasons.size() == index_of(Hold::count) &&
                  std::all_of(hold_reasons.begin(), hold_reasons.end(),
                              [](const auto& row) { return &row_of(row.hold) == &row; }),
              "each reason has a row, and the rows are in the order of the enumerators");

/// A reason that holds a lane at a moment.
struct HeldBy {
  std::string_view code;
  HoldCause cause;
  std::string_view words;  ///< of this moment, which can be more exact than those of the row
};

}  // namespace laneway::lane
