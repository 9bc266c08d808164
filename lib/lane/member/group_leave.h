// How a stopping member leaves its group: when all members of the process have drained, or at a deadline.
//
// Ownership: the loop owns this; what the constructor takes by reference outlives it. Threads: one, the
// loop's. Nothing blocks.
#pragma once

#include <atomic>
#include <cstddef>
#include <optional>

#include "base/time.h"
#include "kafka/group/consumer.h"
#include "lane/member/member_lanes.h"

namespace laneway::lane {

/// The number of members of one process that have not drained yet. No member leaves the group before all have
/// committed: the others' commits do not meet the rebalance that a leave begins, and the group rebalances
/// once, not once for each member. A member counts from its start. Threads: any.
using StillDraining = std::atomic<std::size_t>;

class GroupLeave {
 public:
  /// The drain begins, and may last until `drain_ends`.
  GroupLeave(kafka::Consumer& consumer, const MemberLanes& lanes, StillDraining& still_draining,
             TimePoint drain_ends)
      : consumer_(consumer),
        lanes_(lanes),
        still_draining_(still_draining),
        deadline_(drain_ends + patience_after_drain) {}

  /// Continues the leave. `at_rest`: everything is drained and given back. `hurry`: nothing is waited for any
  /// longer. Returns nullopt until the end; then true if the member has left the group, and only handlers may
  /// still work, or false if the member has not: the client is broken, or the time is over.
  std::optional<bool> advance(bool at_rest, bool hurry, TimePoint now);

 private:
  /// For members whose handlers hang. With the patience for the close it stays within the service's slack.
  static constexpr Duration patience_after_drain = milliseconds(1500);

  kafka::Consumer& consumer_;
  const MemberLanes& lanes_;
  StillDraining& still_draining_;
  const TimePoint deadline_;
  bool drained_ = false;
  std::optional<TimePoint> closing_since_;
};

}  // namespace laneway::lane
