// The queued and running work of a stage, or of its failed records: batches of records, in the pool or before
// it, and records that wait for their key outside any batch.
//
// Batches that the pool rejects stay here in order. Failed records do not wait behind new ones (pool::Turn).
// In order by key, a key has one batch in the pool at a time, of about 4 ms by the measured service time
// (slice); the other records of the key wait in key_order.h.
//
// Ownership: owns the batches, the pool and the workers' side (execution.h); what the constructor is given
// outlives this. Threads: the loop's, except for pool(), whose counts any thread may read; `on_ready` is
// called from any thread. Nothing blocks except join, up to its deadline. Memory is bounded by the lane,
// which asks for bytes().
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "lane/batch/work_batch.h"
#include "lane/commit/crash_gate.h"
#include "lane/ledger/key_order.h"
#include "lane/ledger/ledger.h"
#include "lane/shared/lane_context.h"
#include "lane/stage/drain_rest.h"
#include "lane/stage/execution.h"
#include "lane/stage/line.h"
#include "lane/stage/parking.h"
#include "lane/state/lane_detail.h"
#include "lane/state/lane_id.h"
#include "lane/state/lane_stats.h"
#include "pool/pool.h"

namespace laneway::lane {

class Workload {
 public:
  using BatchPtr = std::unique_ptr<WorkBatch>;
  /// Records of a batch from `begin` on that the pool has not taken yet.
  struct Pending {
    WorkBatch* batch;
    std::uint32_t begin;
  };

  /// Which records of the stage run here: failed ones too, unless they have workers of their own. Parked
  /// records are on their way to a retry topic, and need no place of a pool whose workers may all hang.
  enum class Serves : std::uint8_t { all, failed, parked };
  struct Members {
    const LaneContext& lane;
    const StageContext& stage;
    Line& line;  ///< of the records, unless a record comes with another one
    const LaneId& id;
    const Ledger& ledger;
    const CrashGate& gate;
    LaneStats& stats;
    std::function<void()> on_ready;
    DrainRest* rest = nullptr;  ///< null: what a drain gives back is dropped
  };
  Workload(const Members& members, Serves serves);

  /// The settings of the contexts have changed.
  void follow_settings();
  bool ordered() const { return lane_.lanes.order != config::Order::none; }
  /// How many records may be taken at a time.
  std::uint32_t run_limit() const;

  /// An empty batch, to be filled and then added or put back.
  BatchPtr new_batch();
  void put_back(BatchPtr batch) { spare_.push_back(std::move(batch)); }
  /// Adds records. Those that have to wait for their key leave the batch, unless they are `admitted`.
  void add(BatchPtr batch, bool admitted = false);
  /// Runs a record that has left its batch: a record that failed or was withheld. The record does not wait
  /// for a place among new records. If it leaves for a topic, it becomes what it was when it was read.
  void run_alone(handler::Item item) { run_alone(std::move(item), line_); }
  void run_alone(handler::Item item, Line& line);
  /// Runs records that are not new to the lane, in their order.
  void run(std::vector<handler::Item> items, Line& line);

  /// The batch to submit next; null if there is none.
  const Pending* next() const { return pending_.empty() ? nullptr : &pending_.front(); }
  /// Offers the batch, or `most` of its records, to the pool. Returns false if part of these was rejected;
  /// `on_ready` signals when there is room again.
  bool submit_next(std::uint32_t most);
  /// The records that the pool has taken and that collect() has not returned.
  std::uint64_t in_pool() const { return in_pool_; }
  /// A worker gets no more records of a key at a time than this, at least 1.
  void limit_slice(std::size_t records) {
    longest_slice_ = records;
    slice_ = std::min(slice_, records);
  }
  /// Whether no record is in the pool.
  bool none_at_work() const { return in_pool_ == 0; }

  /// Moves the claims that finished since the last call into `into` (emptied first).
  void collect(std::vector<handler::Finished>& into);
  /// Whether the batch belongs to this life of the ledger.
  bool current(const WorkBatch& batch) const { return batch.life == life_; }
  /// Records of the batch are finished, or go on elsewhere; `in_pool`: the pool had taken them. After the
  /// last ones, the batch is used for others.
  void finish(WorkBatch& batch, std::uint32_t count, bool in_pool = true);
  /// Records have been written to a retry topic, to wait there.
  void note_parked(const handler::Finished& finished, TimePoint now) const {
    lane::note_parked(lane_, stage_, finished, now);
  }
  /// `count` records of the claim were taken out of it; at least one is left.
  void leave_early(const pool::Claim& claim, std::uint32_t count);
  /// The running records of this key are complete; the next ones of the key go on.
  void release_key(std::uint64_t key);
  /// Records of a claim that have not begun go on in another batch or, if they have one key, behind it. A
  /// drain that gives back records that have not begun drops them.
  void take_back(const WorkBatch& batch, std::uint64_t key, std::vector<handler::Item> items);

  /// Whether all work of the lane is finished.
  bool drained() const { return pending_.empty() && pool_->drained() && batches_.empty(); }
  /// No new records come. Gives back what cannot be finished in the time `left`, or everything that has not
  /// begun.
  void drain(bool finish, Duration left);
  bool drains() const { return drains_; }
  /// Whether all records of the workload, and `more`, can be finished in time, by the estimated service time.
  /// What has not begun does not fit while nothing is known.
  bool fits(Duration left, std::uint64_t more = 0) const;
  /// How many records besides these can be finished in time; none while nothing is known.
  std::uint64_t fitting(Duration left) const;
  /// Asks the running records to stop, and gives back the rest. Those that fail now are abandoned.
  void cancel();
  bool cancelled() const { return cancelled_; }
  /// The log was replaced by another one: drops what the pool has not taken, and the rest when it finishes.
  void start_over();
  /// Returns the number of abandoned records. `running`: those that workers have and have not answered are
  /// abandoned now, and logged.
  std::uint64_t abandon(bool running);
  /// Logs one abandoned record.
  void abandon(std::int64_t offset, std::uint32_t attempt, const kafka::Record* record);
  bool join(Deadline deadline) { return pool_->join(deadline) && execution_.left(); }

  /// Checks the deadlines of running records.
  void tick(TimePoint now);
  bool idle() const { return batches_.empty(); }
  /// If `eager`, or while records wait for their key, every finished claim signals the loop.
  void set_eager(bool eager) { execution_.set_eager(eager || keys_.waiting() > 0); }
  /// How many records may call the downstream now.
  std::uint32_t downstream_room(Line& line, TimePoint now) {
    return line.downstream().room(&execution_, now, line.attempts().only_suspects());
  }
  void leave_downstream(const Line& line) { line.downstream().leave(&execution_); }

  /// The number of queued and running records.
  std::uint64_t records() const {
    const auto snapshot = pool_->snapshot();
    return unbegun(snapshot) + snapshot.in_flight;
  }
  bool keys_wait() const { return keys_.waiting() > 0; }
  /// As many records as the queue has places wait behind their keys, outside the pool.
  bool many_wait_for_keys() const { return keys_wait() && keys_.waiting() >= stage_.settings.queue; }
  /// Memory of the records in batches and behind their keys.
  std::uint64_t bytes() const { return bytes_; }
  Duration service_time() const { return pool_->snapshot().service_time; }
  /// The measured service time or, before the first record has finished, that of the other lanes and of
  /// earlier assignments; zero if none is known.
  Duration estimated_service_time() const {
    const auto measured = service_time();
    return measured > Duration::zero() ? measured : line_.downstream().service_time();
  }
  pool::Pool& pool() const { return *pool_; }
  /// Whether the pool's workers are configured: parked records are written without workers.
  bool has_workers() const { return serves_ != Serves::parked; }
  /// Looks at every running record. Only fields that the loop alone writes may be read.
  template <class Look>
  void each_at_work(Look look) const {
    for (const auto& range : pool_->in_flight()) {
      const auto& batch = batch_of(range);
      if (!current(batch)) continue;
      for (auto i = range.begin; i < range.end; ++i)
        if (batch.items[i].seen_state() == handler::ItemState::unanswered) look(batch.items[i]);
    }
  }
  /// Tells the lines how many of their records workers have.
  void count_at_work() const {
    for (const auto& range : pool_->in_flight()) batch_of(range).line->count_at_work(range.count());
  }
  /// Looks at every record in the batches that no worker has answered, and says whether the record is queued
  /// or running. The same fields may be read.
  template <class Look>
  void each_unanswered(Look look) const {
    for (const auto& batch : batches_) {
      if (!current(*batch)) continue;
      for (const auto& item : batch->items)
        if (item.seen_state() == handler::ItemState::unanswered) look(item, OldestRecord::Phase::queued);
    }
    each_at_work([&](const handler::Item& item) { look(item, OldestRecord::Phase::running); });
  }

 private:
  std::uint64_t unbegun(const pool::Snapshot& snapshot) const;
  pool::Limits limits() const;
  void run_again(std::vector<handler::Item> items, Line& line, bool sequential, bool failed);
  pool::Turn turn_of(handler::Route route, bool failed) const;
  void apply_order(WorkBatch& batch);
  void apply_key_order(WorkBatch& batch);
  void wait_behind_key(std::uint64_t key, std::span<handler::Item> items);
  std::size_t measured_slice() const;
  /// Gives back the memory of records that waited outside any batch.
  void let_go(const std::vector<handler::Item>& items) {
    for (const auto& item : items) bytes_ -= std::min(bytes_, memory_of(item));
  }
  void give_back_pending();
  void give_back(WorkBatch& batch, std::uint32_t begin, std::uint32_t end, bool in_pool);
  void give_back_beyond(Duration left);
  void give_back_unbegun();
  void withdraw(std::uint32_t keep);
  /// A drain gives back the record.
  void leave_rest(handler::Item& item, Line& line) {
    if (rest_ != nullptr && drains_ && !cancelled_) rest_->add(item, line);
  }
  void report_stuck(const pool::Range& job) const;

  Line& line_;
  const LaneContext& lane_;
  const StageContext& stage_;
  const Serves serves_;
  const LaneId& id_;
  const Ledger& ledger_;
  const CrashGate& gate_;
  LaneStats& stats_;
  DrainRest* const rest_;
  std::vector<BatchPtr> batches_;  // running or pending; found again by their place
  std::vector<BatchPtr> spare_;
  std::deque<Pending> pending_;  // in the order of their turns, then of their coming
  KeyOrder<handler::Item> keys_;
  std::size_t slice_ = 1;  // records of a key that a worker gets at a time
  std::size_t longest_slice_;
  std::uint64_t in_pool_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t life_ = 0;   // counts start_over(): batches of an earlier life are dropped
  bool gives_back_ = false;  // no record begins any more
  bool drains_ = false;
  bool cancelled_ = false;
  std::uint64_t abandoned_ = 0;
  // Last, because their threads use the members above.
  Execution execution_;
  std::unique_ptr<pool::Pool> pool_;
};

}  // namespace laneway::lane
