// A member's numbers for metrics and status: written by its loop, read by any thread.
#pragma once

#include <cstdint>

#include "base/histogram.h"
#include "base/time.h"
#include "lane/state/lane_stats.h"

namespace laneway::lane {

struct LoopStats {
  Relaxed<std::uint64_t> commits_acknowledged;
  Relaxed<std::uint64_t> commits_failed;
  Relaxed<std::uint64_t> assigned;
  Relaxed<std::uint64_t> revoked;
  Relaxed<std::uint64_t> lost;
  /// The group's last answer was an assignment, perhaps an empty one, and it was not lost since.
  Relaxed<bool> has_assignment;
  Relaxed<bool> without_topics;  ///< the pattern has found no topic yet, so the group is not joined
  Relaxed<std::uint64_t> assignment_repairs;
  /// Records that the drain of the stop gave up. Records of partitions that moved away while the service went
  /// on are not counted here, because other members finish them; ProcessTotals counts all.
  Relaxed<std::uint64_t> abandoned;
  /// Records that the stop left finished and not committed.
  Relaxed<std::uint64_t> uncommitted;
  Histogram commit_latency;
  Histogram drain;
  Relaxed<std::int64_t> last_turn_ns;  ///< steady time of the loop's last turn
  Relaxed<std::int64_t>
      joining_since_ns;  ///< steady time at which the group began to be joined; 0: it is not
  /// Assigned partitions that have no lane yet, because their committed offsets cannot be read, and the
  /// steady time since when there have been some; 0: there are none.
  Relaxed<std::uint64_t> awaited_offsets;
  Relaxed<std::int64_t> awaiting_offsets_since_ns;
  Relaxed<bool> must_be_renewed;   ///< another loop has to take over (kafka::Consumer)
  Relaxed<bool> partition_silent;  ///< the same, because a partition delivers nothing (silence_watch.h)
  Relaxed<std::int64_t> no_broker_since_ns;  ///< steady time at which no broker was connected; 0: one is
  /// Steady time since which brokers are connected and the group's coordinator is not; 0: the coordinator is
  /// connected, or no broker is.
  Relaxed<std::int64_t> no_coordinator_since_ns;
  /// By how much brokers have delayed the client because of quotas, and the steady time of the last delay; 0:
  /// there was none.
  Relaxed<std::uint64_t> throttled_ms;
  Relaxed<std::int64_t> throttled_at_ns;
};

/// Keeps the time since when `is_so` has been true; 0 while it is false.
inline void stamp(Relaxed<std::int64_t>& since, bool is_so, TimePoint now) {
  if (!is_so)
    since.set(0);
  else if (since.get() == 0)
    since.set(now.time_since_epoch().count());
}

}  // namespace laneway::lane
