// Controls what a lane may begin, so that a record that ends the process can be found (crash_watch.h). With
// max_crashes, the gate of each new lane is closed until the first commit, which says that this process works
// here, is acknowledged, or for half a second. After crashes, in careful mode, the lane writes down which
// records are next before they begin, and runs one group of records at a time.
//
// Ownership: the lane's; what the constructor is given outlives the gate. Threads: the loop's. Nothing
// blocks.
#pragma once

#include <cstdint>
#include <optional>

#include "handler/record_batch.h"
#include "lane/commit/stored_commit.h"
#include "lane/ledger/ledger.h"
#include "lane/shared/crash_watch.h"
#include "lane/shared/lane_context.h"
#include "lane/state/lane_id.h"

namespace laneway::lane {

class CrashGate {
 public:
  CrashGate(const LaneContext& context, const LaneId& id, const Ledger& ledger, const StoredCommit& start);

  bool careful() const { return watch_ && watch_->careful(); }
  /// While the gate is closed, no record goes to the pool before may_begin() has allowed it.
  bool closed() const { return closed_; }
  /// Null if there is no limit of crashes: then nothing is watched.
  CrashWatch* watch() { return watch_ ? &*watch_ : nullptr; }

  /// Logs a warning: a lane in careful mode begins.
  void warn_careful() const;
  /// The lane takes no new records; only a lane in careful mode still asks before records begin.
  void drain();
  /// A lane in careful mode has ended.
  void leave();

  enum class Entry : std::uint8_t {
    now,
    later,
    condemned,  ///< The record has ended the process too often and must not have another attempt.
  };
  /// Whether these records may go to the pool. `begun`: part of the batch is in the pool already; `alone`: no
  /// other batch is running.
  Entry may_begin(const handler::RecordBatch& batch, bool begun, bool alone, TimePoint now);
  /// Careful mode: a batch of Route::work has been run.
  void survived(const handler::RecordBatch& batch);
  /// Looks whether careful mode is still needed. `log_end` and `next_offset`: negative if not known.
  void tick(std::int64_t log_end, std::int64_t next_offset, TimePoint now);
  /// Ends careful mode.
  void relax(const char* why);
  /// How many records a lane in careful mode may take at a time: the records of one group, and few enough
  /// that the other careful lanes have their turn within about a second. `run`: the maximum.
  std::uint32_t run_limit(std::uint32_t run, Duration service_time) const;

  /// Whether the next commit is wanted at once, because records wait for it.
  bool wants_commit() const { return committed_version_ < wanted_version_; }
  /// The broker has acknowledged this version of the marker.
  void committed(std::uint64_t version) { committed_version_ = version; }

 private:
  Entry may_begin_carefully(const handler::RecordBatch& batch, bool begun, bool alone, TimePoint now);

  const LaneContext& context_;
  const LaneId& id_;
  const Ledger& ledger_;
  const std::int64_t start_offset_;
  std::optional<CrashWatch> watch_;
  std::uint64_t committed_version_ = 0;  // of the watch's marker
  std::uint64_t wanted_version_ = 0;     // no record begins before it is committed, while the gate is closed
  bool closed_;
  std::optional<TimePoint> waits_since_;  // since when the next records have waited for their commit
  std::optional<TimePoint> alone_since_;  // since when the careful group has been running
};

}  // namespace laneway::lane
