// One assigned partition: the order of a turn. What is done in each step is the members' job.
//
// A turn: what the workers have finished is collected (workload/completions.h), failed records whose time has
// come and batches are submitted (attempts/, workload/workload.h), a run of records is taken
// (intake/intake.h), and the reasons for a hold are looked at (state/hold_rules.h). The clock's part, tick(),
// is the same with deadlines, pauses, errors and numbers.
//
// Ownership: the loop owns the lane; metrics hold it too (shared) and read stats() and pool() only. The
// handler and the journal outlive it. Threads: the loop's thread calls everything else; `on_ready` is called
// from any thread and must only signal. Nothing blocks except close_pool, up to its deadline.
//
// An error of the source (a topic that may not be read) does not end the lane: it waits, says so every half
// minute, and goes on when the source gives something again.
//
// The destructor needs the pool to be closed (close_pool returned true), else it waits for the handlers.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "kafka/types.h"
#include "lane/attempts/attempts.h"
#include "lane/attempts/oldest_watch.h"
#include "lane/commit/commit_position.h"
#include "lane/commit/crash_gate.h"
#include "lane/intake/fetch_pause.h"
#include "lane/intake/intake.h"
#include "lane/intake/lane_rate.h"
#include "lane/intake/prefetch_watch.h"
#include "lane/intake/source_errors.h"
#include "lane/lane_detail.h"
#include "lane/ledger/ledger.h"
#include "lane/member/partition_source.h"
#include "lane/position/lane_silence.h"
#include "lane/position/log_position.h"
#include "lane/position/retention_alarm.h"
#include "lane/shared/lane_context.h"
#include "lane/state/hold_rules.h"
#include "lane/state/lane_id.h"
#include "lane/state/lane_state.h"
#include "lane/state/lane_stats.h"
#include "lane/workload/completions.h"
#include "lane/workload/workload.h"

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
  bool wants_commit() const {
    return gate_.wants_commit() && ledger_.committable() >= 0 && state_.state() != State::draining;
  }
  /// Records were taken.
  bool begun() const { return position_.delivered() >= 0; }
  /// Where a lane must begin that does again what is not committed, with the map of what is.
  kafka::CommittedOffset starting_point() const { return commits_.starting_point(position_.first()); }
  /// Nothing of this lane may be committed now, not even as a part of a transaction.
  bool position_in_doubt() const { return position_.in_doubt(); }
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
  bool delayed() const { return stage_ != nullptr && stage_->delayed(); }
  Take take(TimePoint now);
  void take_what_is_fetched(TimePoint now);
  void submit(TimePoint now);
  bool may_begin(const Workload::Pending& next, TimePoint now);
  void submit_due_retries(TimePoint now);
  bool leaves_turn_to_new() const;
  void start_over();

  void tick_source(TimePoint now);
  void tick_position(TimePoint now);
  void tick_pause(TimePoint now);
  void tick_oldest(TimePoint now);
  TimePoint tick_silence(TimePoint now);
  TimePoint tick_take(TimePoint now);
  TimePoint next_retry(TimePoint due, TimePoint now);
  void publish(TimePoint now);
  OldestRecord describe(const Ledger::Position& oldest, TimePoint now) const;

  const LaneContext& context_;
  const LaneId id_;
  const delivery::RetryStage* const stage_;  // null: there are no retry topics
  const std::unique_ptr<LaneStats> stats_;
  std::unique_ptr<PartitionSource> source_;  // from start() to revoke()
  LaneState state_;
  Ledger ledger_;
  OldestWatch oldest_;
  Attempts attempts_;
  CrashGate gate_;
  CommitPosition commits_;
  LaneRate rate_;
  SourceErrors errors_;
  LogPosition position_;
  RetentionAlarm retention_;
  LaneSilence silence_;
  PrefetchWatch prefetch_;
  Workload workload_;  // its threads use what is above
  Completions completions_;
  FetchPause pause_;
  Intake intake_;
  HoldRules holds_;
  bool drained_ = false;
};

}  // namespace laneway::lane
