// One assigned partition: its source of records, its worker pool, its ledger, and the rules between them.
//
// A record's way: take() pops a run and notes it in the ledger; submit() offers it to the pool; a worker runs
// the handler (Execution); collect() marks the ledger, or schedules the next attempt, or lets the next
// records of a key go on. What the pool rejects stays here in order, and the lane is held until there is room
// (lane_state.h).
//
// Ownership: the loop owns the lane; metrics hold it too (shared) and read stats() and pool() only. The
// handler and the journal outlive it. Threads: the loop's thread calls everything else; `on_ready` is called
// from any thread and must only signal. Nothing blocks except close_pool, up to its deadline.
//
// An error of the source (a topic that may not be read) does not end the lane: it waits, says so every half
// minute, and goes on when the source gives something again. An offset below the one that the lane expects
// puts its position in doubt (position_judge.h): nothing is taken and nothing committed until that is
// decided.
//
// The destructor needs the pool to be closed (close_pool returned true), else it waits for the handlers.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "handler/handler.h"
#include "kafka/types.h"
#include "lane/attempts/attempts.h"
#include "lane/attempts/oldest_watch.h"
#include "lane/commit/commit_position.h"
#include "lane/commit/crash_gate.h"
#include "lane/intake/lane_rate.h"
#include "lane/lane_detail.h"
#include "lane/ledger/ledger.h"
#include "lane/member/partition_source.h"
#include "lane/position/lane_silence.h"
#include "lane/position/position_judge.h"
#include "lane/position/retention_watch.h"
#include "lane/shared/lane_context.h"
#include "lane/state/lane_id.h"
#include "lane/state/lane_state.h"
#include "lane/state/lane_stats.h"
#include "lane/work/completions.h"
#include "lane/work/workload.h"

namespace laneway::lane {

class Lane {
 public:
  /// `start` is the committed offset with the completion map of its commit.
  Lane(const LaneContext& context, const kafka::CommittedOffset& start, std::uint64_t epoch,
       std::function<void()> on_ready);
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  const kafka::TopicPartition& partition() const { return id_.partition; }
  std::uint64_t epoch() const { return id_.epoch; }
  State state() const { return state_.state(); }

  /// Begins to take records.
  void start(std::unique_ptr<PartitionSource> source, TimePoint now);
  /// Does what there is to do, at most one run of records; true when there is more to do at once.
  bool work(TimePoint now);
  /// The clock's part: deadlines, retries, pauses, gauges. Returns when it wants to be called next.
  TimePoint tick(TimePoint now);

  /// An offset or a map that should be committed, if it differs from what was acknowledged or is `final`.
  /// The map has at most `max_map` bytes.
  std::optional<kafka::CommittedOffset> commit_candidate(std::size_t max_map = default_map_bytes);
  /// The broker acknowledged this candidate. True when there is work that waited for it.
  bool committed(const kafka::CommittedOffset& offset);
  /// Completions that no acknowledged commit holds.
  bool has_uncommitted() const { return commits_.has_uncommitted(); }
  /// What the next commit says is wanted at once (crash_watch.h), not only when commits are due.
  bool wants_commit() const;
  /// Records were taken.
  bool begun() const { return delivered_ >= 0; }
  /// Where a lane must begin that does again what is not committed, with the map of what is.
  kafka::CommittedOffset starting_point() const { return commits_.starting_point(first_); }
  /// Nothing of this lane may be committed now, not even as a part of a transaction.
  bool position_in_doubt() const { return judge_.in_doubt(); }
  /// Takes no new records while the completion map is too long to be committed whole.
  void hold_for_map(bool too_long, TimePoint now);
  /// Pauses or goes on as the operators want it (LaneContext::hand_pauses). What it has taken goes on.
  void follow_hand(TimePoint now);
  /// The settings of the context have changed: what is at work or waits goes on by the new ones.
  void follow_settings(TimePoint now);
  LaneDetail detail(TimePoint now) const;
  /// The record goes to the dead-letter topic instead of to its next attempt.
  Skip skip(std::int64_t offset, const std::string& reason, TimePoint now);
  /// How long its records wait before their attempt: it is of a retry topic.
  Duration retry_delay() const { return stage_ == nullptr ? Duration::zero() : stage_->delay; }
  /// What the loop has to do because the partition is silent; none: nothing.
  const std::optional<LaneSilence::Demand>& silence_demand() const { return silence_.demand(); }
  /// Records completed since the last call.
  std::uint64_t take_completed() { return completions_.take_completed(); }

  /// No new records; what has been queued goes on as far as it fits before `deadline`, the rest is given
  /// back.
  void begin_drain(TimePoint now, TimePoint deadline);
  /// Nothing is at work or queued any more.
  bool drained() const { return drained_; }
  /// Requests the stop of what is at work.
  void cancel();
  /// What becomes of records at work: somebody else's from now on, or done again by this member.
  enum class Ending : std::uint8_t { given_up, starts_over };
  /// Ends the lane: the source is let go, later completions are dropped, and what is still at work and given
  /// up is logged as abandoned. Returns the number of abandoned records.
  std::uint64_t revoke(TimePoint now, Ending ending = Ending::given_up);
  /// False if handlers are still at work at the deadline, or whoever answered for one is not quite out of
  /// here. Once true, nothing signals `on_ready` any more.
  bool close_pool(Deadline deadline) { return workload_.join(deadline); }

  const LaneStats& stats() const { return *stats_; }
  LaneStats& stats() { return *stats_; }
  const pool::Pool& pool() const { return workload_.pool(); }

 private:
  enum class Take { more, empty };

  // lane_take.cpp
  Take take(TimePoint now);
  Take pop_run(WorkBatch& batch, std::uint32_t most, std::uint64_t most_bytes, TimePoint now);
  void accept(WorkBatch& batch, kafka::Record record, std::int64_t offset, TimePoint now);
  std::uint64_t room() const;
  bool delayed() const { return stage_ != nullptr && stage_->delayed(); }
  void note(std::int64_t offset);
  void flush_noted();
  void on_first_record(TimePoint now);

  // lane_position.cpp
  bool follows(std::int64_t offset, bool end, TimePoint now);
  void note_gap(std::int64_t next);
  void doubt(std::int64_t seen, bool end, TimePoint now);
  void tick_position(TimePoint now);
  void conclude(PositionJudge::Verdict verdict, TimePoint now);
  void compare_last(TimePoint now);
  void go_on(const char* why, TimePoint now);
  void start_over(std::int64_t offset);
  void on_corrupt(std::int64_t offset, TimePoint now);
  void read_corrupt_again(TimePoint now);
  Skip pass_over_corrupt(std::int64_t offset, const std::string& reason, TimePoint now);
  void tick_log(TimePoint now);
  void watch_retention(const kafka::LogBounds& log);
  std::int64_t lag(const kafka::LogBounds& log) const;

  // lane.cpp: submitting
  void submit(TimePoint now);
  void update_holds(TimePoint now);
  void show_state();
  std::string_view words_of(const HoldReason& reason) const;
  std::string held_by() const;

  bool breaker_holds() const;
  bool leaves_turn_to_new() const;
  void submit_due_retries(TimePoint now);
  TimePoint next_retry(TimePoint due, TimePoint now);
  bool may_begin(const Workload::Pending& next, TimePoint now);
  void tick_careful(TimePoint now);

  // lane_clock.cpp
  bool waits_long_for_rate(TimePoint now);
  void tick_pause(TimePoint now);
  TimePoint tick_take(TimePoint now);
  void take_what_is_fetched(TimePoint now);
  void resume(TimePoint now);
  void tick_starving(TimePoint now);
  TimePoint tick_silence(TimePoint now);
  void tick_source_error(TimePoint now);
  void on_source_error(TimePoint now);
  void fail_source(std::string why, TimePoint now);
  void on_source_answers();
  void publish(TimePoint now);

  void tick_oldest(TimePoint now);

  /// Of records taken and not finished.
  std::uint64_t memory() const { return workload_.bytes() + attempts_.bytes(); }
  // Constant after construction
  const LaneContext& context_;
  const LaneId id_;
  const delivery::RetryStage* const stage_;  // null: there are no retry topics

  const std::unique_ptr<LaneStats> stats_;
  std::unique_ptr<PartitionSource> source_;
  LaneState state_;
  Ledger ledger_;
  OldestWatch oldest_;
  Attempts attempts_;
  CrashGate gate_;
  CommitPosition commits_;
  PositionJudge judge_;
  RetentionWatch retention_;
  LaneRate rate_;

  std::int64_t noted_first_ = 0;  // a stretch of neighbouring offsets not yet in the ledger
  std::uint32_t noted_ = 0;
  Sequence next_sequence_ = 0;

  /// What a record is recognised by when it is read again.
  struct Mark {
    std::int64_t offset = kafka::no_offset;
    std::int64_t timestamp = 0;
    std::uint64_t key = 0;
    std::size_t bytes = 0;
    bool operator==(const Mark&) const = default;
  };
  static Mark mark_of(const kafka::Record& record);

  Mark mark_;                        // of one of the last records taken
  std::uint64_t answers_heard_ = 0;  // about the log's bounds
  TimePoint next_log_question_{};
  std::optional<TimePoint> comparing_until_;  // the record of mark_ is read again
  std::optional<std::int64_t> corrupt_at_;    // the batch that begins there cannot be read
  bool was_gone_ = false;                     // the topic, when the client asked last
  bool reads_again_ = false;                  // that batch: another replica may have it whole
  std::int64_t first_ = -1;                   // the first offset popped
  std::int64_t delivered_ = -1;               // the last offset popped
  std::int64_t next_offset_;                  // where fetching goes on; -1 unknown
  std::optional<TimePoint> resumed_at_;       // until the first record after a resume
  Duration resume_latency_ = milliseconds(20);
  bool was_full_ = false;               // the prefetch buffer was full since the last wake
  bool not_empty_ = true;               // the last pop found something, or was long ago
  bool new_ones_turn_ = false;          // at the pace of a downstream
  std::optional<TimePoint> dry_since_;  // nothing comes though the log goes on
  LaneSilence silence_;
  std::string source_error_;  // nothing has come since
  TimePoint failing_since_{};
  TimePoint next_source_report_{};
  bool drained_ = false;
  Workload workload_;  // its threads use what is above
  Completions completions_;
};

}  // namespace laneway::lane
