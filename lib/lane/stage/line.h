// The records of a stage that share a downstream and its limits: all records of the stage, or those of one
// subscriber (config::Each). A line has the attempts at its records, and the records that have come to the
// stage and cannot begin yet (the backlog).
//
// Ownership: the stage's; batches of the workload refer to their line, which outlives them. Threads: the
// loop's; workers read the downstream, the rate and the adaptive limit, which are constant.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "lane/attempts/attempts.h"
#include "lane/shared/keyed_limits.h"
#include "lane/shared/lane_context.h"
#include "lane/shared/lane_rate.h"
#include "lane/state/hold_reasons.h"

namespace laneway::lane {

class Line {
 public:
  /// `subscriber` is null unless the stage has `each`.
  Line(const LaneContext& lane, const StageContext& stage, std::shared_ptr<KeyedLimit> subscriber,
       const Attempts::Members& members);
  ~Line();
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  Downstream& downstream() const { return subscriber_ ? subscriber_->downstream : *stage_.downstream; }
  /// The rate at which the calls are made, and their pace; null if there is no limit.
  RateLimiter* rate() const { return subscriber_ ? &subscriber_->rate : stage_.rate; }
  /// Null if the limit is fixed, and for a subscriber: a 429 lowers the subscriber's own pace instead.
  AdaptiveLimit* adaptive() const { return subscriber_ ? nullptr : stage_.adaptive; }
  Attempts& attempts() { return attempts_; }
  const KeyedLimit* subscriber() const { return subscriber_.get(); }
  /// For the status of the subscriber.
  void note_waiting();

  /// Records that the breaker has not let begin are tried first; without such records, new ones are taken.
  bool breaker_holds() const { return !downstream().closed() && attempts_.waiting().fresh() > 0; }
  /// The breaker is not closed, and every record that waits here has failed already: otherwise waiting
  /// records that are all poison would hide the end of an outage.
  bool asks_new() const { return !downstream().closed() && attempts_.waiting().fresh() == 0; }
  /// Why no record of the backlog may begin now, without the rate and the pool.
  HoldBits blocked_by();
  /// How many of up to `wanted` records may begin now: by the rate, and by the subscriber's workers. They are
  /// given back by ended().
  std::uint32_t begin(std::uint32_t wanted, TimePoint now);
  /// The records that begin() has let begin: charged to the rate.
  void charge(std::uint32_t records, std::uint64_t bytes, TimePoint now);
  /// The same for a failed record that runs again.
  void charge_failed(std::uint64_t bytes, TimePoint now);
  /// Records of this line go to the pool, and have left it.
  void entered(std::uint32_t records);
  void ended(std::uint32_t records);
  bool rate_waits(TimePoint now) { return rate_ && rate_->waits(now); }
  TimePoint rate_ready_at(TimePoint now) { return rate_ ? rate_->ready_at(now) : now; }
  /// At the pace of a downstream, failed records and new ones take turns.
  bool leaves_turn_to_new() const { return rate_ && rate_->turn_of_new() && !backlog_.empty(); }
  void took_failed();
  /// The line wants nothing for now; its share of the rate goes to the others.
  void leave_rate(TimePoint now);

  void wait(handler::Item item, TimePoint now);
  const std::deque<handler::Item>& backlog() const { return backlog_; }
  handler::Item pop();
  /// Takes the record, or its sub-jobs, out of the backlog.
  std::vector<handler::Item> take(Sequence sequence);
  void clear_backlog();
  /// Memory of the backlog.
  std::uint64_t bytes() const { return bytes_; }
  /// Whether the line can be dropped: no backlog, no waiting and no running records.
  bool unused() const { return backlog_.empty() && attempts_.waiting().size() == 0 && running_ == 0; }

 private:
  const LaneContext& lane_;
  const StageContext& stage_;
  const std::shared_ptr<KeyedLimit> subscriber_;
  Attempts attempts_;
  std::optional<LaneRate> rate_;  // nullopt if the lane's intake keeps the same rate
  bool retries_full_ = false;
  std::deque<handler::Item> backlog_;
  std::uint64_t bytes_ = 0;
  std::uint32_t reserved_ = 0;  // of the subscriber's places, by begin()
  std::uint32_t running_ = 0;   // the same, with the records in the pool
  KeyedLimit::Waiting noted_;   // by note_waiting()
};

}  // namespace laneway::lane
