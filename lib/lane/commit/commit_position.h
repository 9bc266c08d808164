// The committed position of a lane and the position to commit, with all that a commit stores
// (stored_commit.h). A commit counts when the broker has acknowledged it.
//
// Ownership: the lane's; what the constructor is given outlives this. Threads: the loop's. Nothing blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "lane/commit/crash_gate.h"
#include "lane/commit/stored_commit.h"
#include "lane/ledger/ledger.h"
#include "lane/ledger/suspects.h"
#include "lane/state/lane_stats.h"

namespace laneway::lane {

/// What a lane takes over from the last commit of its partition: `start` without what was stored for another
/// log, which is ignored with a warning; the records above the offset run again. If the id of the log could
/// not be read, only the completion map is ignored: another log's map would leave out records. Nothing else
/// that is stored can, and a suspension must outlive a broker that does not answer.
StoredCommit own_start(const LaneContext& context, StoredCommit start);

/// The ledger of a lane that begins at `start`, an own_start().
Ledger ledger_of(const StoredCommit& start);

class CommitPosition {
 public:
  CommitPosition(const LaneContext& context, const StoredCommit& start, const Ledger& ledger,
                 const Suspects& suspects, CrashGate& gate, LaneStats& stats);

  /// The position to commit, if it differs from the acknowledged one; `most` and `whole` as for
  /// StoredCommit::written(). If the lane drains, the commit marks a clean end.
  std::optional<kafka::CommittedOffset> candidate(bool drains, std::size_t most, bool whole);
  /// The broker has acknowledged this candidate. Returns false if the candidate belonged to another log.
  bool committed(const kafka::CommittedOffset& offset);
  /// Whether there are completions that no acknowledged commit contains.
  bool has_uncommitted() const;
  /// The last decision of this process about the partition, which counts if it is later than the decision
  /// that the commits carry.
  void decide(const std::optional<Suspension>& asked);
  /// When the partition was suspended, since 1970; nullopt if it is not suspended.
  std::optional<std::int64_t> suspended_ms() const {
    if (!suspension_ || !suspension_->suspended) return std::nullopt;
    return suspension_->at_ms;
  }
  /// Whether a decision is to be committed, although no record may have finished.
  bool has_decision_to_commit() const { return suspension_ != committed_.suspension; }
  /// How many records have finished here since the last acknowledged commit was made.
  std::uint64_t finished_since() const { return finished() - committed_.finished; }
  /// The position from which a replacement lane must start so that uncommitted records run again. `first`:
  /// the first offset that was popped.
  StoredCommit starting_point(std::int64_t first) const;
  /// The log was replaced by another one: earlier commits, also those under way, do not count any more.
  void start_over();

 private:
  /// What a commit carries beside its offset.
  struct Contents {
    std::uint64_t map_version = 0;
    std::uint64_t suspects_version = 0;
    std::uint64_t marker_version = 0;
    std::optional<Suspension> suspension{};
    std::uint64_t finished = 0;  ///< records, by then
  };

  std::uint64_t finished() const;

  const Ledger& ledger_;
  const Suspects& suspects_;
  CrashGate& gate_;
  LaneStats& stats_;
  LogName log_;
  std::optional<Suspension> suspension_;
  StoredCommit acknowledged_;
  Contents sent_;
  Contents committed_;
  std::uint64_t suppressed_before_ = 0;  // in the logs before this one
  bool sent_of_this_log_ = true;
};

}  // namespace laneway::lane
