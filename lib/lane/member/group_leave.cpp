#include "lane/member/group_leave.h"

#include <algorithm>
#include <utility>

#include "telemetry/log.h"

namespace laneway::lane {
namespace {

constexpr Duration close_patience = milliseconds(1000);
constexpr Duration most_of_drain = seconds(4);  // for closing: brokers that have failed never answer

}  // namespace

std::optional<bool> GroupLeave::advance(bool at_rest, bool hurry, TimePoint now) {
  if (!closing_since_) {
    if (!at_rest) return std::nullopt;
    if (!std::exchange(drained_, true)) still_draining_.fetch_sub(1);
    // The coordinator reads no request behind a JoinGroup: the group would not see the leave, and the
    // partitions of the member would stand still until its session ends.
    const bool waits = still_draining_.load() > 0 || consumer_.join_under_way();
    if (waits && !hurry && now < deadline_) return std::nullopt;
    closing_since_ = now;
    // A client with a fatal error must not be closed.
    if (consumer_.fatal_error() || !consumer_.begin_close()) return false;
    return std::nullopt;
  }
  const bool closed = consumer_.closed();
  // A slow coordinator gets the rest of the drain's time, unless `hurry` is set.
  const auto since =
      hurry ? *closing_since_ : std::clamp(deadline_, *closing_since_, *closing_since_ + most_of_drain);
  // Handlers that have returned leave threads that are about to end; a handler that hangs is not waited for.
  if ((!closed || lanes_.any_ending()) && now < since + close_patience) return std::nullopt;
  if (!closed) telemetry::warn("leaving the group took too long", {});
  return closed;
}

}  // namespace laneway::lane
