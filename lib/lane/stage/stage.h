// A lane's part in one stage of its work: the workload with the stage's workers, and the lines of the records
// that come to the stage.
//
// A stage that shares the lane with others keeps what its pool or downstream cannot take in the backlogs of
// its lines, so that the records of the others pass; the lane bounds what waits (lanes.max_incomplete, its
// share of lanes.memory). The stage of a service without named pools has no backlog: its records wait in the
// workload, and the lane holds. A stage is not fed while the next one (config::PoolSettings::then) rejects
// records: so each stage bounds the one before. A stage with a next one runs no more records than there is
// memory for their results (result_memory.h).
//
// What the works of all stages do alike (Stage::Work), Stages does in one loop over them.
//
// Ownership: the lane's; what the constructor is given outlives this. Threads: the loop's, except for view(),
// waiting() and works(). Nothing blocks, except the end of the works, which Stages::join waits for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lane/commit/crash_gate.h"
#include "lane/shared/lane_context.h"
#include "lane/stage/completions.h"
#include "lane/stage/drain_rest.h"
#include "lane/stage/gather_order.h"
#include "lane/stage/line.h"
#include "lane/stage/parking.h"
#include "lane/stage/result_memory.h"
#include "lane/stage/workload.h"
#include "lane/state/hold_reasons.h"
#include "lane/state/lane_stats.h"

namespace laneway::lane {

/// The pool of a stage at one moment.
struct PoolView {
  std::string name;  ///< empty without named pools
  pool::Snapshot pool;
  pool::Limits limits;
  std::uint64_t waiting = 0;           ///< records that have come to the pool, and wait outside it
  std::uint64_t done = 0;              ///< attempts that have ended, since the assignment
  std::uint64_t waiting_attempts = 0;  ///< records that wait for their next attempt, as of the last tick
  std::uint32_t subscribers_out = 0;   ///< whose records wait here, as of the last tick
  std::uint64_t waiting_for_them = 0;  ///< their records that wait here, likewise
  std::uint32_t retries_queued = 0;    ///< in the pool of failed records
  std::uint32_t retries_running = 0;
  Duration work{};  ///< of these attempts, added up
};

class Stage {
 public:
  struct Members {
    Attempts::Members line;
    Ledger& ledger;
    CrashGate& gate;
    LaneStats& stats;
    Onward& onward;
    std::function<void()> on_ready;
  };

  /// Batches with the pool that runs them, and what applies their results.
  struct Work {
    Work(const Workload::Members& of_workload, Workload::Serves serves, const Members& members)
        : workload(of_workload, serves),
          completions(members.ledger, members.gate, workload, members.onward) {}

    Workload workload;
    Completions completions;
    bool rejected = false;  ///< the last turn ended with records that the pool did not take
  };

  Stage(const LaneContext& lane, const StageContext& context, const Members& members);
  /// To be called before the first record comes; null if the records are finished here.
  void set_next(const Stage* next) { next_ = next; }
  /// The settings of the contexts have changed.
  void follow_settings();

  bool named() const { return !name_.empty(); }
  /// That of all records; with retry_workers, another one of failed records; and one that writes parked
  /// records, if there are any. Constant.
  const std::vector<std::unique_ptr<Work>>& works() const { return works_; }
  Workload& workload() const { return works_.front()->workload; }
  Workload& failed() const { return *failed_; }
  /// Runs a record that has left its batch, or writes it to the topic of its route.
  void run_alone(handler::Item item, Line& line) const {
    (item.route() == handler::Route::parked ? *parked_ : *failed_).run_alone(std::move(item), line);
  }
  const std::vector<std::unique_ptr<Line>>& lines() const { return lines_; }
  Line& line_of(const handler::Item& item);

  /// New records of this stage.
  void take(Workload::BatchPtr batch, TimePoint now);
  void take(handler::Item item, TimePoint now);
  /// Takes the record in the order of the stage that gathers, with those that have waited for this record.
  void take_gathered(handler::Item whole, TimePoint now);
  /// Takes the records that waited for others which were complete before they came here.
  void take_late(TimePoint now);
  /// Null if the stage does not gather in order.
  GatherOrder* order() { return order_ ? &*order_ : nullptr; }
  /// The record, or its sub-jobs, leave the line's backlog and wait among its attempts.
  void put_off(Line& line, Sequence sequence, TimePoint now);
  /// Gives the workload records of the backlogs. Returns whether it gave any.
  bool feed(TimePoint now);
  /// Whether the pool rejects records, so that the one before is not to be fed.
  bool crowded() const;
  /// Why no record that comes now could begin.
  HoldBits blocked(TimePoint now) const;
  /// A record of this pool has gone on, as results with so many bytes.
  void note_results(std::uint64_t bytes);
  /// How many of these records may go to the pool, if there are `left` bytes for their results; 0: they wait
  /// for memory.
  std::uint32_t most_to_begin(const Workload::Pending& next, std::uint64_t left) const;

  /// Writes records again that their topics have not taken. Returns whether there were any.
  bool write_again(Line& line, TimePoint now) const;
  void tick(TimePoint now);
  /// Records that wait for too long leave the lane.
  void let_leave(const Neighbours& neighbours, TimePoint now);
  /// An operator has ordered something about parked records (shared/parked_orders.h).
  void follow_orders(TimePoint now) {
    std::vector<handler::Item> ordered;
    for (const auto& line : lines_) {
      const auto before = line->backlog().size();
      for (auto& item : parking_.take_ordered(*line, now)) ordered.push_back(std::move(item));
      waiting_.set(waiting_.get() - (before - line->backlog().size()));
    }
    for (auto& item : ordered) take(std::move(item), now);
  }
  /// When a record of a backlog can begin or is given up, as far as that is known.
  TimePoint next_due(TimePoint now);

  /// Memory of the records that wait for the stage, and are in it.
  std::uint64_t bytes() const;
  /// Records in backlogs; any thread.
  std::uint64_t waiting() const { return waiting_.get(); }
  /// For any thread.
  PoolView view() const;
  /// No record is here, except those that wait for the order of the stage that gathers.
  bool idle() const;

  /// `incoming`: records that the pools before this one may pass on. Whatever cannot be finished in the time
  /// `left` is given back.
  void begin_drain(bool finish, Duration left, std::uint64_t incoming, TimePoint now);
  /// In a drain: parks the sub-jobs that it does not finish and of whose records others have ended. When
  /// nothing runs any more, the rest is given back with the whole records.
  void park_rest(TimePoint now);
  /// A drain gives the record back.
  void end_in_drain(handler::Item item, Line& line) {
    if (parked_ != nullptr) rest_.add(item, line);
  }
  void cancel();
  void close();
  void start_over();
  /// Records that come are given back to the next owner of the partition.
  bool gives_back() const { return gives_back_; }

 private:
  Line& add_line(std::shared_ptr<KeyedLimit> subscriber);
  bool feed(Line& line, TimePoint now);
  void note_waiting();
  bool takes_directly(Line& line) const;
  bool none_further_on() const;
  void give_back_late(Duration left, TimePoint now);
  void keep_first(Line& line, std::uint64_t records);
  LeavingRoom room_to_leave() const {
    constexpr std::uint64_t most = 256;
    if (parked_ == nullptr) return {most, lane_.memory.lane_bytes};
    return {most - std::min(parked_->in_pool(), most),
            lane_.memory.lane_bytes - std::min(parked_->bytes(), lane_.memory.lane_bytes)};
  }
  bool keep_fitting(Duration left, TimePoint now);
  handler::Item pop(Line& line);
  void clear_backlog(Line& line) {
    waiting_.set(waiting_.get() - line.backlog().size());
    line.clear_backlog();
  }

  const LaneContext& lane_;
  const StageContext& context_;
  const std::string name_;  // other threads read it
  const Members members_;
  std::vector<std::unique_ptr<Line>> lines_;  // the first one is that of records without a subscriber
  const Stage* next_ = nullptr;
  std::size_t turn_ = 0;  // the line that is fed first
  bool gives_back_ = false;
  std::optional<TimePoint> finishes_until_;  // the deadline of a drain that finishes what fits
  ResultMemory results_;
  std::optional<GatherOrder> order_;
  Relaxed<std::uint64_t> waiting_;           // records in the backlogs
  Relaxed<std::uint64_t> waiting_attempts_;  // as of the last tick, for the status
  Relaxed<std::uint32_t> subscribers_out_;   // likewise
  Relaxed<std::uint64_t> waiting_for_them_;  // likewise, of their records
  const Parking parking_;
  DrainRest rest_;
  Workload* failed_ = nullptr;
  Workload* parked_ = nullptr;                // null: no record is parked
  std::vector<std::unique_ptr<Work>> works_;  // its threads use the members above
};

}  // namespace laneway::lane
