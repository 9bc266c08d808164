// One assigned partition: the order of a turn. The lane's members carry out the steps.
//
// In a turn, the lane collects what the workers have finished (stage/completions.h), submits batches and
// the failed records whose time has come (stage/stages.h), takes a run of records
// (intake/intake.h), and updates the reasons for a hold (hold_rules.h). tick() is the part for the
// clock: deadlines, pauses, errors and numbers.
//
// A record's way: the loop takes it in work(); a worker runs it (stage/execution.h); work() or tick(),
// whichever comes first, collects it and completes it in the ledger; the member commits what the ledger
// allows (member/member_commits.h).
//
// Ownership: the loop owns the lane; metrics share it and read stats() and pool() only. The handler and the
// journal outlive it. Threads: the loop's thread calls everything else; `on_ready` is called from any thread
// and must only signal. Nothing blocks except close_pool, up to its deadline.
//
// An error of the source (a topic that may not be read) does not end the lane: the lane waits, logs the error
// every half minute, and goes on when the source delivers again.
//
// Close the pool before destruction (close_pool returned true); otherwise the destructor waits for the
// handlers.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kafka/types.h"
#include "lane/attempts/oldest_watch.h"
#include "lane/commit/commit_position.h"
#include "lane/commit/crash_gate.h"
#include "lane/hold_rules.h"
#include "lane/intake/fetch_pause.h"
#include "lane/intake/intake.h"
#include "lane/intake/prefetch_watch.h"
#include "lane/ledger/ledger.h"
#include "lane/ledger/suspects.h"
#include "lane/position/lane_silence.h"
#include "lane/position/log_position.h"
#include "lane/shared/lane_context.h"
#include "lane/shared/lane_rate.h"
#include "lane/source/partition_source.h"
#include "lane/source/source_errors.h"
#include "lane/stage/stages.h"
#include "lane/state/lane_detail.h"
#include "lane/state/lane_id.h"
#include "lane/state/lane_state.h"
#include "lane/state/lane_stats.h"

namespace laneway::lane {

class Lane {
 public:
  /// The lane ignores what was stored for another log (own_start).
  Lane(const LaneContext& context, const StoredCommit& start, std::uint64_t epoch,
       std::function<void()> on_ready);
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  const LaneId& id() const { return id_; }
  const kafka::TopicPartition& partition() const { return id_.partition; }
  std::uint64_t epoch() const { return id_.epoch; }
  State state() const { return state_.state(); }

  /// Starts to take records.
  void start(std::unique_ptr<PartitionSource> source, TimePoint now);
  /// Does the work that is due, with at most one run of records. Returns true if there is more to do at once.
  bool work(TimePoint now);
  /// The part for the clock: deadlines, retries, pauses, gauges. Returns when to call it next.
  TimePoint tick(TimePoint now);

  /// The offset and metadata to commit, if they differ from the acknowledged ones. The metadata has at most
  /// `most` bytes, or more if the map must be `whole`.
  std::optional<kafka::CommittedOffset> commit_candidate(std::size_t most = default_map_bytes,
                                                         bool whole = false) {
    // The brokers would refuse the offset, and the client then takes those of all other lanes for refused.
    if (position_.in_doubt() || (position_.is_gone() && !whole)) return std::nullopt;
    note_suspects();
    return commits_.candidate(state() == State::draining, most, whole);
  }
  /// The broker acknowledged this candidate. Returns true if work was waiting for it.
  bool committed(const kafka::CommittedOffset& offset) {
    return commits_.committed(offset) && gate_.closed();
  }
  /// Whether there are completions that no acknowledged commit contains.
  bool has_uncommitted() const { return commits_.has_uncommitted(); }
  /// How many records have finished since the last acknowledged commit was made: they run again if the lane
  /// ends now.
  std::uint64_t finished_since_commit() const { return commits_.finished_since(); }
  /// Whether the next commit is wanted at once (crash_watch.h, suspensions.h), and not only when commits are
  /// due.
  bool wants_commit() const {
    return (gate_.wants_commit() || commits_.has_decision_to_commit()) && ledger_.committable() >= 0 &&
           state_.state() != State::draining;
  }
  /// Whether records have been taken.
  bool begun() const { return position_.delivered() >= 0; }
  /// The position from which a replacement lane must start so that uncommitted records run again, with the
  /// completion map of what is already committed.
  StoredCommit starting_point() const { return commits_.starting_point(position_.first()); }
  /// Whether nothing of this lane may be committed now, not even in a transaction.
  bool position_in_doubt() const { return position_.in_doubt(); }
  /// Stops taking new records while the completion map is too long to be committed whole.
  void hold_for_map(bool too_long, TimePoint now) { holds_.set(Hold::map_full, too_long, now); }
  /// Holds or goes on as operators want (LaneContext::suspensions, and the decision that was committed).
  /// Records that the lane has taken go on.
  void follow_suspensions(TimePoint now);
  /// The settings of the context have changed; running and waiting records follow them too.
  void follow_settings(TimePoint now);
  LaneDetail detail(TimePoint now) const;
  /// Sends the record to the dead-letter topic instead of to its next attempt.
  Skip skip(std::int64_t offset, const std::string& reason, TimePoint now);
  /// An operator has ordered something about parked records (LaneContext::parked_orders).
  void follow_parked_orders(TimePoint now) {
    if (state_.state() == State::draining || state_.state() == State::revoked) return;
    for (const auto& stage : stages_.all()) stage->follow_orders(now);
  }
  /// How long the records of a retry topic wait before their attempt; zero for other topics.
  Duration retry_delay() const { return retry_step_ == nullptr ? Duration::zero() : retry_step_->delay; }
  /// What the loop has to do because the partition is silent; nullopt if nothing.
  const std::optional<LaneSilence::Demand>& silence_demand() const { return silence_.demand(); }
  /// Records completed since the last call.
  std::uint64_t take_completed() { return ledger_.take_completed(); }

  /// Takes no new records; queued records still run if they fit before `deadline`, the rest is given back.
  void begin_drain(TimePoint now, TimePoint deadline);
  /// No record is queued or running any more.
  bool drained() const { return drained_; }
  /// Asks the running records to stop.
  void cancel() { stages_.cancel(); }
  /// What happens to running records: another member takes them over, or this member runs them again.
  enum class Ending : std::uint8_t { given_up, starts_over };
  /// Ends the lane: closes the source, drops later completions, and logs running records that are given up as
  /// abandoned. Returns the number of abandoned records.
  std::uint64_t revoke(TimePoint now, Ending ending = Ending::given_up);
  /// Returns false if, at the deadline, handlers are still running or a thread that answered for a handler
  /// has not left yet. Once true, nothing signals `on_ready` any more.
  bool close_pool(Deadline deadline) { return stages_.join(deadline); }

  LaneStats& stats() const { return *stats_; }
  /// The pool, or the first one of several.
  const pool::Pool& pool() const { return stages_.all().front()->workload().pool(); }
  /// All pools that have workers, those of failed records too; for any thread.
  std::vector<const pool::Pool*> pools() const {
    std::vector<const pool::Pool*> pools;
    for (const auto* work : stages_.works())
      if (work->workload.has_workers()) pools.push_back(&work->workload.pool());
    return pools;
  }
  bool pools_drained() const {
    return std::ranges::all_of(stages_.works(),
                               [](const auto* work) { return work->workload.pool().drained(); });
  }
  /// Of the named pools, in their order; empty if there are none.
  std::vector<PoolView> pool_views() const { return stages_.views(); }

 private:
  /// `start` without what was written for another log.
  Lane(const StoredCommit& start, const LaneContext& context, std::uint64_t epoch,
       const std::function<void()>& on_ready);
  Take take(TimePoint now);
  void take_what_is_fetched(TimePoint now);
  /// A lane that was suspended before its first record knows no offset that it could commit.
  bool seeks_beginning() const {
    return commits_.has_decision_to_commit() && position_.next() < 0 && source_ != nullptr &&
           state_.has(Hold::suspended);
  }
  void submit(TimePoint now);
  /// While records that finish can end a hold, each of their claims signals the loop.
  void update_holds(TimePoint now) {
    // Only a rate asks for what is due.
    holds_.update({stages_.blocked(now), stages_.bytes(), rate_.limited() && stages_.due(now)}, now);
    stages_.set_eager(state_.state() == State::draining || state_.has(Hold::window_full) ||
                      state_.has(Hold::memory_full) || gate_.careful());
  }
  HoldRules::Cause cause_of_hold() const { return {stages_.waits_for_memory(), stages_.keeps_pace()}; }
  void submit_due_retries(TimePoint now);
  bool submit_due_retries(const Stage& stage, Line& line, TimePoint now);
  bool leaves_turn_to_new(const Line& line) const;
  void start_over();
  void note_suspects() {
    Suspects::Seen seen;
    for (const auto& stage : stages_.all())
      for (const auto& line : stage->lines()) line->attempts().see_suspects(seen);
    if (!seen.empty() || !suspects_.offsets().empty()) suspects_.note(seen, ledger_);
  }

  void tick_source(TimePoint now);
  void tick_pause(TimePoint now);
  void resume(TimePoint now);
  void tick_oldest(TimePoint now);
  TimePoint tick_take(TimePoint now);
  TimePoint next_retry(TimePoint now);
  void publish(TimePoint now);
  Skip skip_all(Sequence sequence, const std::string& reason, TimePoint now);
  OldestRecord describe(const Ledger::Position& oldest, TimePoint now) const;

  const LaneContext& context_;
  const LaneId id_;
  const delivery::RetryStep* const retry_step_;  // null if there are no retry topics
  const bool delayed_;                           // the topic is a retry topic, in which records wait
  const std::unique_ptr<LaneStats> stats_;
  std::unique_ptr<PartitionSource> source_;  // from start() to revoke()
  LaneState state_;
  Ledger ledger_;
  Suspects suspects_;
  OldestWatch oldest_;
  CrashGate gate_;
  CommitPosition commits_;
  LaneRate rate_;
  SourceErrors errors_;
  LogPosition position_;
  LaneSilence silence_;
  PrefetchWatch prefetch_;
  Stages stages_;  // its threads use the members above
  FetchPause pause_;
  Intake intake_;
  HoldRules holds_;
  bool drained_ = false;
};

}  // namespace laneway::lane
