// The states of a breaker (breaker.h): one table of what the status, the page, the log and the metrics call
// them.
//
// A new state is an enumerator and a row; a row that is missing, or out of order, does not compile. A test
// compares the rows with the page and with the help of the metric. Pure.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace laneway::delivery {

enum class BreakerState : std::uint8_t {
  closed,     ///< Calls go through.
  half_open,  ///< A few calls probe the downstream.
  open,       ///< The downstream is out, and its records are held.
  off,        ///< Only in reports: the configuration has no breaker.
};

struct BreakerStateRow {
  BreakerState state;
  const char* code;   ///< in JSON and in the log
  const char* words;  ///< for people
  int number;         ///< of the metric breaker_state; 0: calls go through
};

inline constexpr std::array breaker_states{
    BreakerStateRow{BreakerState::closed, "closed", "closed", 0},
    BreakerStateRow{BreakerState::half_open, "half_open", "half open", 1},
    BreakerStateRow{BreakerState::open, "open", "open", 2},
    BreakerStateRow{BreakerState::off, "off", "off", 0},
};
constexpr const BreakerStateRow& row_of(BreakerState state) {
  return breaker_states[static_cast<std::size_t>(state)];
}
static_assert(breaker_states.size() == static_cast<std::size_t>(BreakerState::off) + 1 &&
                  std::all_of(breaker_states.begin(), breaker_states.end(),
                              [](const auto& row) { return &row_of(row.state) == &row; }),
              "each state has a row, and the rows are in the order of the enumerators");

constexpr const char* name_of(BreakerState state) { return row_of(state).code; }
/// Null if no state has this code.
constexpr const BreakerStateRow* find_breaker_state(std::string_view code) {
  const auto* found = std::find_if(breaker_states.begin(), breaker_states.end(),
                                   [code](const auto& row) { return code == row.code; });
  return found == breaker_states.end() ? nullptr : found;
}

}  // namespace laneway::delivery
