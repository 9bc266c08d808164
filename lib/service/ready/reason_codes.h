// The reasons for which a service is not ready, as /readyz, the status and the metric not_ready name them.
//
// A new reason is an enumerator and a row; a row that is missing, or out of order, does not compile.
// readiness.h judges which of them apply. The alert LanewayNotReady covers each; `unit.alerts` compares the
// names with its runbook, and the scenario `alerts` brings a service into each of the states. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace laneway::service {

enum class ReasonCode : std::uint8_t {
  starting,        ///< The service waits for brokers and topics.
  stopping,        ///< The service drains.
  unassigned,      ///< A member has no assignment, or has lost it.
  no_broker,       ///< A member has no connection to a broker.
  no_coordinator,  ///< A member has no connection to its group's coordinator, although brokers answer.
  rebalancing,     ///< A member joins the group for longer than a rebalance may take.
  breaker_open,    ///< A downstream is out.
  unreadable,      ///< A partition cannot be read.
  stalled,         ///< A lane has lag and makes no progress.
  held,            ///< A lane is held by its failures or by its oldest record.
  stuck,           ///< A handler ignores its stop.
  count,           ///< The number of reasons; not a reason.
};

constexpr std::size_t index_of(ReasonCode code) { return static_cast<std::size_t>(code); }

struct ReasonName {
  ReasonCode code;
  std::string_view name;
  std::string_view words;  ///< for people, where a line has to be short: systemd's status line
};

inline constexpr std::array reason_names{
    ReasonName{ReasonCode::starting, "starting", "starting"},
    ReasonName{ReasonCode::stopping, "stopping", "stopping"},
    ReasonName{ReasonCode::unassigned, "unassigned", "no assignment"},
    ReasonName{ReasonCode::no_broker, "no_broker", "no brokers"},
    ReasonName{ReasonCode::no_coordinator, "no_coordinator", "no coordinator of the group"},
    ReasonName{ReasonCode::rebalancing, "rebalancing", "the rebalance does not end"},
    ReasonName{ReasonCode::breaker_open, "breaker_open", "the downstream is out"},
    ReasonName{ReasonCode::unreadable, "unreadable", "a partition cannot be read"},
    ReasonName{ReasonCode::stalled, "stalled", "no progress"},
    ReasonName{ReasonCode::held, "held", "a lane is held"},
    ReasonName{ReasonCode::stuck, "stuck", "the handler is stuck"},
};

namespace reason_table {
constexpr bool in_order() {
  for (std::size_t i = 0; i < reason_names.size(); ++i)
    if (index_of(reason_names[i].code) != i) return false;
  return true;
}
}  // namespace reason_table
static_assert(reason_names.size() == index_of(ReasonCode::count) && reason_table::in_order(),
              "each reason has a row, and the rows are in the order of the enumerators");

constexpr std::string_view name_of(ReasonCode code) { return reason_names[index_of(code)].name; }
constexpr std::string_view in_words(ReasonCode code) { return reason_names[index_of(code)].words; }

}  // namespace laneway::service
