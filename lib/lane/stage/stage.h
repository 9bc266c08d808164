// A lane's part in one stage of its work: the workload with the stage's workers, and the lines of the records
// that come to the stage.
//
// A stage that shares the lane with others keeps what its pool or downstream cannot take in the backlogs of
// its lines, so that the records of the others pass; the lane bounds what waits (lanes.max_incomplete, its
// share of lanes.memory). The stage of a service without named pools has no backlog: its records wait in the
// workload, and the lane holds. A stage is not fed while the next one (config::Pool::then) rejects
// records: so each stage bounds the one before. A stage with a next one runs no more records than there is
// memory for their results (result_memory.h).
//
// Ownership: the lane's; what the constructor is given outlives this. Threads: the loop's, except for view(),
// waiting() and works(). Nothing blocks except join, up to its deadline.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lane/commit/crash_gate.h"
#include "lane/shared/lane_context.h"
#include "lane/stage/completions.h"
#include "lane/stage/line.h"
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
  std::uint64_t waiting = 0;         ///< records that have come to the pool, and wait outside it
  std::uint64_t done = 0;            ///< attempts that have ended, since the assignment
  std::uint32_t retries_queued = 0;  ///< in the pool of failed records
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
  };

  Stage(const LaneContext& lane, const StageContext& context, const Members& members);
  /// To be called before the first record comes; null if the records are finished here.
  void set_next(const Stage* next) { next_ = next; }
  /// The settings of the contexts have changed.
  void follow_settings();

  bool named() const { return !name_.empty(); }
  /// That of all records and, with retry_workers, another one of failed records. Constant.
  const std::list<Work>& works() const { return works_; }
  Workload& workload() { return works_.front().workload; }
  const Workload& workload() const { return works_.front().workload; }
  Workload& failed() { return works_.back().workload; }
  const std::vector<std::unique_ptr<Line>>& lines() const { return lines_; }
  Line& line_of(const handler::Item& item);

  /// New records of this stage.
  void take(Workload::BatchPtr batch, TimePoint now);
  void take(handler::Item item, TimePoint now);
  /// Runs a record that has left its batch, without waiting for a place among new records. What leaves for a
  /// topic is made what it was when it was read.
  void run_alone(handler::Item item, Line& line);
  /// Gives the workload records of the backlogs. Returns whether it gave any.
  bool feed(TimePoint now);
  /// Whether the pool rejects records, so that the one before is not to be fed.
  bool crowded() const;
  /// Why no record that comes now could begin.
  HoldBits blocked(TimePoint now) const;
  /// A record of this pool has gone on, as results with so many bytes.
  void note_results(std::uint64_t bytes);
  /// How many of these records may go to the pool, if there are `left` bytes for their results.
  std::uint32_t most_to_begin(const Workload::Pending& next, std::uint64_t left);
  /// Since begin_turn(), records had to wait for that memory.
  bool waits_for_memory() const { return waits_for_memory_; }
  void begin_turn() { waits_for_memory_ = false; }

  void collect(TimePoint now);
  void tick(TimePoint now);
  /// When a record of a backlog can begin or is given up, as far as that is known.
  TimePoint next_due(TimePoint now);
  void set_eager(bool eager);

  std::uint64_t bytes() const;
  /// Records in backlogs; any thread.
  std::uint64_t waiting() const { return waiting_.get(); }
  /// How long the records that the pool has last, by the measured service time.
  Duration time_left() const;
  /// For any thread.
  PoolView view() const;
  bool idle() const;
  bool none_at_work() const;

  /// `incoming`: records that the pools before this one may pass on. Whatever cannot be finished in the time
  /// `left` is given back.
  void begin_drain(bool finish, Duration left, std::uint64_t incoming, TimePoint now);
  bool drained() const;
  void cancel();
  void close();
  void start_over();
  void abandon();
  std::uint64_t abandoned() const;
  bool join(Deadline deadline);
  /// Records that come are given back to the next owner of the partition.
  bool gives_back() const { return gives_back_; }

 private:
  void add_work(Workload::Serves serves);
  Line& add_line(std::shared_ptr<Subscriber> subscriber);
  bool feed(Line& line, TimePoint now);
  bool takes_directly(Line& line) const;
  bool none_further_on() const;
  void give_up_waiting(Line& line, TimePoint now);
  void give_back_late(Duration left);
  void publish();

  const LaneContext& lane_;
  const StageContext& context_;
  const std::string name_;  // other threads read it
  const Members members_;
  std::vector<std::unique_ptr<Line>> lines_;  // the first one is that of records without a subscriber
  const Stage* next_ = nullptr;
  std::size_t turn_ = 0;  // the line that is fed first
  bool gives_back_ = false;
  std::optional<TimePoint> finishes_until_;  // the deadline of a drain that finishes what fits
  bool waits_for_memory_ = false;
  ResultMemory results_;
  Relaxed<std::uint64_t> waiting_;
  std::list<Work> works_;  // its threads use the members above
};

}  // namespace laneway::lane
