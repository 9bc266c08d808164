// What of a lane is committed, and what should be: the offset, the completion map above it, and the marker of
// the crash watch. A commit counts when the broker has acknowledged it.
//
// Ownership: the lane's; what the constructor is given outlives this. Threads: the loop's. Nothing blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "kafka/types.h"
#include "lane/commit/crash_gate.h"
#include "lane/ledger/ledger.h"
#include "lane/state/lane_stats.h"

namespace laneway::lane {

class CommitPosition {
 public:
  CommitPosition(const kafka::CommittedOffset& start, const Ledger& ledger, CrashGate& gate,
                 LaneStats& stats);

  /// What should be committed, if it differs from what was acknowledged. The map has at most `max_map` bytes.
  /// A lane that drains says that it ends cleanly.
  std::optional<kafka::CommittedOffset> candidate(bool drains, std::size_t max_map);
  /// The broker has acknowledged this candidate. False: it was of another log.
  bool committed(const kafka::CommittedOffset& offset);
  /// Completions that no acknowledged commit holds.
  bool has_uncommitted() const;
  /// Where a lane must begin that does again what is not committed. `first`: the first offset that was
  /// popped.
  kafka::CommittedOffset starting_point(std::int64_t first) const;
  /// The log is another one: what has been committed or is on its way does not count any more.
  void start_over();

 private:
  bool rests_committed(std::int64_t offset) const;

  const Ledger& ledger_;
  CrashGate& gate_;
  LaneStats& stats_;
  kafka::CommittedOffset acknowledged_;
  std::uint64_t committed_map_version_ = 0;
  std::uint64_t sent_map_version_ = 0;
  std::uint64_t sent_marker_version_ = 0;
  bool sent_of_this_log_ = true;
};

}  // namespace laneway::lane
