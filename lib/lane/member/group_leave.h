// How a stopping member leaves its group: when all members of the process have drained, or at a deadline.
//
// Ownership: the loop owns this; consumer and lanes outlive it. Threads: one, the loop's. Nothing blocks.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>

#include "base/time.h"
#include "kafka/group/consumer.h"
#include "lane/member/member_lanes.h"

namespace laneway::lane {

/// Counts the members of one process that have not drained yet. No member leaves the group before all have
/// committed: the others' commits do not meet the rebalance that a leave begins, and the group rebalances
/// once, not once for each member. Threads: any.
class StillDraining {
 public:
  void add() { members_.fetch_add(1, std::memory_order_relaxed); }
  void remove() { members_.fetch_sub(1, std::memory_order_acq_rel); }
  bool none() const { return members_.load(std::memory_order_acquire) == 0; }

 private:
  std::atomic<std::size_t> members_{0};
};

class GroupLeave {
 public:
  /// The member counts as draining from the start.
  GroupLeave(kafka::Consumer& consumer, const MemberLanes& lanes,
             std::shared_ptr<StillDraining> still_draining);

  /// The drain begins, and may take `drain`.
  void begin(Duration drain, TimePoint now) { deadline_ = now + drain + patience_after_drain; }
  bool begun() const { return deadline_.has_value(); }
  /// Continues the leave, after begin(). `at_rest`: everything is drained and given back. `hurry`: nothing is
  /// waited for any longer. Returns true when the member has left the group, or the time for it is over.
  bool advance(bool at_rest, bool hurry, TimePoint now);
  /// The member has left the group, and only handlers may still work.
  bool left() const { return left_; }

 private:
  /// For members whose handlers hang. With the patience for the close it stays within the service's slack.
  static constexpr Duration patience_after_drain = milliseconds(1500);

  bool may_leave(bool at_rest, bool hurry, TimePoint now);
  bool closed(bool hurry, TimePoint now);

  kafka::Consumer& consumer_;
  const MemberLanes& lanes_;
  const std::shared_ptr<StillDraining> still_draining_;
  std::optional<TimePoint> deadline_;
  bool drained_ = false;
  std::optional<TimePoint> closing_since_;
  bool left_ = false;
};

}  // namespace laneway::lane
