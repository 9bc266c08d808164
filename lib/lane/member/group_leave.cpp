#include "lane/member/group_leave.h"

#include <algorithm>
#include <utility>

#include "telemetry/log.h"

namespace laneway::lane {
namespace {

constexpr Duration close_patience = milliseconds(1000);
constexpr Duration most_of_drain = seconds(4);  // for closing: brokers that have failed never answer

}  // namespace

GroupLeave::GroupLeave(kafka::Consumer& consumer, const MemberLanes& lanes,
                       std::shared_ptr<StillDraining> still_draining)
    : consumer_(consumer), lanes_(lanes), still_draining_(std::move(still_draining)) {
  still_draining_->add();
}

bool GroupLeave::may_leave(bool at_rest, bool hurry, TimePoint now) {
  if (!at_rest) return false;
  if (!drained_) still_draining_->remove();
  drained_ = true;
  if (hurry || now >= *deadline_) return true;
  // The coordinator reads no request behind a JoinGroup: the group would not see the leave, and the
  // partitions of the member would stand still until its session ends.
  return still_draining_->none() && !consumer_.join_under_way();
}

bool GroupLeave::advance(bool at_rest, bool hurry, TimePoint now) {
  if (closing_since_) return closed(hurry, now);
  if (!may_leave(at_rest, hurry, now)) return false;
  closing_since_ = now;
  // A client with a fatal error must not be closed.
  return consumer_.fatal_error() || !consumer_.begin_close();
}

bool GroupLeave::closed(bool hurry, TimePoint now) {
  const bool closed = consumer_.closed();
  // A slow coordinator gets the rest of the drain's time, unless `hurry` is set.
  const auto since =
      hurry ? *closing_since_ : std::clamp(*deadline_, *closing_since_, *closing_since_ + most_of_drain);
  // Handlers that have returned leave threads that are about to end; a handler that hangs is not waited for.
  if ((!closed || lanes_.any_ending()) && now < since + close_patience) return false;
  if (!closed) telemetry::warn("leaving the group took too long", {});
  left_ = closed;
  return true;
}

}  // namespace laneway::lane
