// The stages of a lane: which one a record goes to, what follows when it has finished there, and what they
// are together for the lane.
//
// The ledger and the commits do not know of stages: a record is complete when its work is finished in its
// last stage, with all its sub-jobs.
//
// Ownership: the lane's; what the constructor is given outlives this. Threads: the loop's, except for pools()
// and views(). Nothing blocks except join, up to its deadline.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lane/stage/gather_order.h"
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
  ~Stages() override;
  Stages(const Stages&) = delete;
  Stages& operator=(const Stages&) = delete;

  void follow_settings();
  bool ordered() const { return first().workload().ordered(); }

  /// How many records may be taken at a time.
  std::uint32_t run_limit() const { return first().workload().run_limit(); }
  /// An empty batch, to be filled and then added or put back.
  Workload::BatchPtr new_batch() { return first().workload().new_batch(); }
  void put_back(Workload::BatchPtr batch) { first().workload().put_back(std::move(batch)); }
  /// New records.
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
  /// Whether records of a pool wait until there is memory for their results.
  bool waits_for_memory() const {
    return std::any_of(all_.begin(), all_.end(), [](const auto& each) { return each->waits_for_memory(); });
  }

  /// In the order of LaneContext::stages; never empty. Constant.
  const std::vector<std::unique_ptr<Stage>>& all() const { return all_; }
  /// The lines of all stages. Not for each record: the list is made anew.
  std::vector<Line*> lines() const;
  /// Whether a waiting record may begin.
  bool due(TimePoint now) const {
    return any_line([&](const Line& line) { return line.attempts().due(now); });
  }
  /// When the first waiting record may begin.
  std::optional<TimePoint> next_attempt() const;
  bool breaker_holds() const {
    return any_line([](const Line& line) { return line.breaker_holds(); });
  }
  /// Whether a downstream has asked for fewer calls.
  bool keeps_pace() const {
    return any_line([](const Line& line) { return line.rate() != nullptr && line.rate()->keeps_pace(); });
  }
  /// Whether each downstream works.
  bool downstreams_work() const {
    return !any_line([](const Line& line) { return !line.downstream().closed(); });
  }
  /// The records that wait for their next attempt, of every line.
  std::vector<const WaitingRecords*> waiting() const;
  std::uint64_t waiting_attempts() const;
  std::uint64_t bytes() const;
  /// How long the records that the lane has last, by the measured service times; zero if nothing is known.
  Duration time_left() const;
  bool service_known() const;
  bool idle() const;
  bool none_at_work() const;

  void begin_drain(bool finish, Duration left, TimePoint now);
  bool drained() const;
  void cancel();
  void close();
  void start_over();
  /// Returns the number of abandoned records; `log`: logs those that the workers have not answered.
  std::uint64_t abandon(bool log);
  bool join(Deadline deadline);

  /// All pools, those of failed records too; for any thread.
  std::vector<const pool::Pool*> pools() const;
  /// Of the named pools, in their order; empty if there are none. Any thread.
  std::vector<PoolView> views() const;

  // Onward
  void pass_on(handler::Item done) override;
  void end_part(handler::Item part, bool given_up) override;

 private:
  Stage& first() { return *all_.front(); }
  const Stage& first() const { return *all_.front(); }
  /// The place of the next stage; -1: its records are finished.
  int then(std::size_t stage) const { return lane_.context.stages[stage].then; }
  void submit(std::size_t pool, Workload& workload, TimePoint now);
  std::uint64_t bytes_of(std::size_t pool) const;
  std::uint64_t left_for_results(std::size_t pool) const;
  std::uint64_t passed_on() const;
  bool may_begin(const Workload::Pending& next, TimePoint now);
  void help_each_other();
  int gatherer_after(std::size_t pool) const;
  void take(std::size_t entry, Workload::BatchPtr batch, TimePoint now);
  void go_on(std::size_t next, handler::Item done);
  void gather_late();
  void gather(std::size_t pool, handler::Item whole);
  void end(handler::Item item);
  void give_to(std::size_t pool, std::vector<handler::Item> items);

  template <class Is>
  bool any_line(Is is) const {
    return std::any_of(all_.begin(), all_.end(), [&](const auto& stage) {
      const auto& lines = stage->lines();
      return std::any_of(lines.begin(), lines.end(), [&](const auto& line) { return is(*line); });
    });
  }
  /// The place of the first stage of the record.
  std::size_t stage_of(const handler::Item& item) const {
    return lane_.context.router == nullptr ? 0 : lane_.context.router->pool_of(item);
  }

  const Members lane_;
  const std::vector<std::size_t> entries_;  // the stages that a record can go to first
  // By pool: of its records that are split, and of the results that it gathers. Outlives the pools.
  std::vector<std::uint64_t> gathering_bytes_;
  std::uint64_t passed_bytes_ = 0;  // of all records that have come to a pool from the one before
  std::vector<std::unique_ptr<Stage>> all_;
  const std::vector<std::vector<std::size_t>> after_;  // by stage: the places of those after it, in order
  std::vector<std::unique_ptr<GatherOrder>> gather_orders_;  // by pool; null if it does not gather in order
  std::vector<std::vector<handler::Item>> routed_;           // of one add()
  std::size_t collecting_ = 0;  // the place of the pool whose records are being applied
  TimePoint now_{};
};

}  // namespace laneway::lane
