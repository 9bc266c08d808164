// How a lane takes records: as many as there is room for, one run at a time, noted in the ledger in their
// order.
//
// Ownership: the lane's; what the constructor is given outlives this. Threads: the loop's. Nothing blocks.
// The source is given to each call, because it ends before the lane does.
#pragma once

#include <cstdint>
#include <optional>

#include "lane/batch/work_batch.h"
#include "lane/intake/fetch_pause.h"
#include "lane/intake/prefetch_watch.h"
#include "lane/ledger/ledger.h"
#include "lane/ledger/suspects.h"
#include "lane/position/lane_silence.h"
#include "lane/position/log_position.h"
#include "lane/shared/lane_context.h"
#include "lane/source/partition_source.h"
#include "lane/source/source_errors.h"
#include "lane/stage/stages.h"
#include "lane/state/lane_stats.h"

namespace laneway::lane {

enum class Take : std::uint8_t { more, empty };

class Intake {
 public:
  /// The members that a run fills or changes.
  struct Members {
    Ledger& ledger;
    LogPosition& position;
    Stages& stages;
    PrefetchWatch& prefetch;
    FetchPause& pause;
    LaneSilence& silence;
    const Suspects& suspects;
    const SourceErrors& errors;
    LaneStats& stats;
  };
  /// `delayed`: the topic is a retry topic, in which records are meant to wait.
  Intake(const LaneContext& context, const Members& members, bool delayed)
      : context_(context), lane_(members), delayed_(delayed) {}

  /// Takes a run of at most `allowed` into the empty batch. Take::empty: the source has nothing more for now.
  Take run(PartitionSource& source, WorkBatch& batch, const RateLimiter::Room& allowed, TimePoint now);
  /// Finds out where the lane begins, without taking a record.
  void find_beginning(PartitionSource& source, TimePoint now);
  /// Whether the lane may hold more than it has: records, memory, retries.
  bool has_room() const;
  /// Whether the lane may hold more records, whatever their memory.
  bool has_window() const { return room() > 0; }
  /// The next runs may exceed the lane's share of the memory.
  void set_exceeds_memory(bool exceeds) { exceeds_memory_ = exceeds; }
  /// The log was replaced by another one.
  void start_over() { next_sequence_ = 0; }
  /// The client fetches again: the time to the first record is measured.
  void resumed(TimePoint now) { resumed_at_ = now; }

  /// The source may have new records.
  void signalled() { not_empty_ = true; }
  /// Whether the last pop found something, or was long ago.
  bool not_empty() const { return not_empty_; }

 private:
  Take pop_run(PartitionSource& source, WorkBatch& batch, std::uint32_t most, std::uint64_t most_bytes,
               TimePoint now);
  bool unreadable(kafka::Pop popped, PartitionSource& source, std::int64_t offset, TimePoint now);
  bool on_end(PartitionSource& source, std::int64_t offset, TimePoint now);
  bool follows(PartitionSource& source, std::int64_t offset, bool end, TimePoint now);
  void measure_resume(TimePoint now);
  void accept(WorkBatch& batch, kafka::Record record, std::int64_t offset, TimePoint now);
  std::uint64_t room() const;
  void flush_noted();

  const LaneContext& context_;
  const Members lane_;
  const bool delayed_;
  std::int64_t noted_first_ = 0;  // start of a stretch of neighbouring offsets that is not in the ledger yet
  std::uint32_t noted_ = 0;
  Sequence next_sequence_ = 0;  // the ledger's next number, once flush_noted() has added what is noted
  std::optional<TimePoint> resumed_at_;  // until the first record after a resume
  bool not_empty_ = true;
  bool exceeds_memory_ = false;
};

}  // namespace laneway::lane
