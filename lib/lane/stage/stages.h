// The stages of a lane: which one a record goes to, what follows when it has finished there, and what they
// are together for the lane.
//
// The ledger and the commits do not know of stages: a record is complete when its work is finished in its
// last stage, with all its sub-jobs.
//
// Ownership: the lane's; what the constructor is given outlives this. Threads: the loop's, except for works()
// and views(). Nothing blocks except join, up to its deadline.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lane/stage/stage.h"

namespace laneway::lane {

class Stages final : public Onward {
 public:
  struct Members {
    const LaneContext& context;
    const LaneId& id;
    Ledger& ledger;
    const OldestWatch& oldest;
    CrashGate& gate;
    const delivery::RetryStep* retry_step;
    LaneStats& stats;
  };
  Stages(const Members& members, const std::function<void()>& on_ready);
  /// Waits for the handlers unless join() has returned true: pools that help each other end together.
  ~Stages();
  Stages(const Stages&) = delete;
  Stages& operator=(const Stages&) = delete;

  void follow_settings();

  /// New records, in a batch of the first stage.
  void add(Workload::BatchPtr batch, TimePoint now);
  /// A record of a retry topic. Returns true if it is not due: then it waits here.
  bool put_off(handler::Item& item, TimePoint now);

  /// Applies what the workers have finished.
  void collect(TimePoint now);
  /// Gives the pools what they can take.
  void submit(TimePoint now);
  /// Why nothing that is taken now could begin: why every pool that records go to first is blocked.
  HoldBits blocked(TimePoint now) const;
  void tick(TimePoint now);
  TimePoint next_due(TimePoint now);
  void set_eager(bool eager);
  /// Whether records of a pool waited, in the last turn, until there is memory for their results.
  bool waits_for_memory() const { return waits_for_memory_; }

  /// In the order of LaneContext::stages; never empty. Constant.
  const std::vector<std::unique_ptr<Stage>>& all() const { return all_; }
  /// The works of all stages. Constant; any thread.
  const std::vector<Stage::Work*>& works() const { return works_; }
  /// How many records wait for their next attempt.
  std::uint64_t waiting_attempts() const;
  /// Whether the delay of one of these is over.
  bool due(TimePoint now) const;
  /// When the first of these may begin, by its delay and the rate of its line.
  TimePoint next_attempt(TimePoint now) const;
  /// Whether a downstream has asked for fewer calls.
  bool keeps_pace() const;
  std::uint64_t bytes() const;
  /// How long the records that the lane has last, by the measured service times; nullopt if none is known.
  std::optional<Duration> time_left() const;
  bool idle() const;

  void begin_drain(bool finish, Duration left, TimePoint now);
  bool drained() const;
  void cancel();
  void close();
  void start_over();
  /// Returns the number of abandoned records; `log`: logs those that the workers have not answered.
  std::uint64_t abandon(bool log);
  bool join(Deadline deadline);

  /// Of the named pools, in their order; empty if there are none. Any thread.
  std::vector<PoolView> views() const;

  // Onward
  void pass_on(handler::Item done) override;
  void end_part(handler::Item part, bool given_up) override;
  void failed_in_drain(handler::Item item, Line& line) override {
    all_[collecting_]->end_in_drain(std::move(item), line);
  }

 private:
  /// What the lane keeps for a stage, beside the stage.
  struct Place {
    std::vector<std::size_t> after;   // the places of the stages after this one, in order
    std::vector<std::size_t> beside;  // of those whose records do not wait for those of this one, and its own
    std::uint64_t gathering_bytes = 0;  // of its records that are split, and of the results that it gathers
    std::vector<handler::Item> routed;  // of one add()
  };

  void submit(std::size_t pool, Stage::Work& work, TimePoint now);
  std::uint64_t left_for_results(std::size_t pool) const;
  std::uint64_t passed_on() const;
  bool may_begin(const Workload::Pending& next, TimePoint now);
  bool none_at_work() const;
  void help_others(std::size_t stage);
  void let_leave(std::size_t stage, TimePoint now);
  int gatherer_after(std::size_t pool) const;
  void expect(const WorkBatch& batch, std::size_t entry);
  void go_on(std::size_t next, handler::Item done);
  void gather(std::size_t pool, handler::Item whole);
  void end(handler::Item item);

  /// The place of the first stage of the record.
  std::size_t stage_of(const handler::Item& item) const {
    return lane_.context.router == nullptr ? 0 : lane_.context.router->pool_of(item);
  }

  const Members lane_;
  const std::vector<std::size_t> entries_;  // the stages that a record can go to first
  std::vector<Place> places_;               // in the order of the stages, which they outlive
  std::uint64_t passed_bytes_ = 0;          // of all records that have come to a pool from the one before
  std::vector<std::unique_ptr<Stage>> all_;
  std::vector<Stage::Work*> works_;
  std::vector<Stage*> in_order_;  // the stages that gather in order
  std::size_t collecting_ = 0;    // the place of the pool whose records are being applied
  bool waits_for_memory_ = false;
  bool drains_ = false;
  TimePoint now_{};
};

}  // namespace laneway::lane
