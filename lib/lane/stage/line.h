// The records of a stage that share a downstream and its limits: all records of the stage, or those of one
// subscriber (config::Each). A line has the attempts at its records, and the records that have come to the
// stage and cannot begin yet (the backlog).
//
// New records and failed ones that are due ask for places (each.workers, lane/shared/places.h) and for the
// rate (lane/shared/rate_limiter.h) as two askers, whose turns alternate. So while both wait, each gets half
// of what the limit gives the lane; and with A askers in all lanes of the process, two for each lane at most,
// an asker gets at least one of each A places that become free, and as much of the rate as any other. What
// one does not want goes to the others. If retry.max_waiting records wait, only failed ones begin until a
// quarter of them has gone.
//
// Ownership: the stage's; batches of the workload refer to their line, which outlives them. Threads: the
// loop's; workers read the downstream, the rate and the adaptive limit, which are constant.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "lane/attempts/attempts.h"
#include "lane/shared/keyed_limits.h"
#include "lane/shared/lane_context.h"
#include "lane/shared/lane_rate.h"
#include "lane/state/hold_reasons.h"

namespace laneway::lane {

/// The longest time between two questions for a place: the asker would lose its turn.
inline constexpr Duration between_turns = milliseconds(20);

class Line {
 public:
  /// `subscriber` is null unless the stage has `each`. `on_place` is called on any thread when a place of the
  /// subscriber is free for a record that waits, until leave(); it must only signal.
  Line(const LaneContext& lane, const StageContext& stage, std::shared_ptr<KeyedLimit> subscriber,
       const Attempts::Members& members, const std::function<void()>& on_place);
  ~Line();
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  Downstream& downstream() const { return subscriber_ ? subscriber_->downstream : *stage_.downstream; }
  /// The rate at which the calls are made, and their pace; null if there is no limit.
  RateLimiter* rate() const { return subscriber_ ? &subscriber_->rate : stage_.rate; }
  /// Null if the limit is fixed, and for a subscriber: a 429 lowers the subscriber's own pace instead.
  AdaptiveLimit* adaptive() const { return subscriber_ ? nullptr : stage_.adaptive; }
  Attempts& attempts() { return attempts_; }
  const Attempts& attempts() const { return attempts_; }
  const KeyedLimit* subscriber() const { return subscriber_.get(); }
  /// For the status of the subscriber.
  void note_waiting();

  /// Records that the breaker has not let begin are tried first; without such records, new ones are taken.
  bool breaker_holds() const { return !downstream().closed() && attempts_.waiting().fresh() > 0; }
  /// The breaker is not closed, and every record that waits here has failed already: otherwise waiting
  /// records that are all poison would hide the end of an outage.
  bool asks_new() const { return !downstream().closed() && attempts_.waiting().fresh() == 0; }
  /// Since when the line has seen that the breaker is not closed; nullopt if it is closed.
  std::optional<TimePoint> out_since(TimePoint now);
  /// Whether no further record may begin because of the line's own limits, or because the records that hold
  /// its places wait for workers: then more places would begin nothing sooner.
  bool at_own_limit(TimePoint now) { return at_limit(now) && keeps_back(); }
  bool waits_for_workers(TimePoint now) { return at_limit(now) && !keeps_back(); }
  /// Since when the backlog has waited for the line's own limits or breaker.
  TimePoint kept_since() const { return kept_since_; }
  /// Workers have so many records of the line.
  void count_at_work(std::uint32_t records) { counted_ += records; }
  /// To be called in each tick, when all were counted.
  void note_at_work(TimePoint now);
  /// A record was answered as done; calls have failed.
  void note_worked(TimePoint now);
  void note_failed(bool local, TimePoint now);
  TimePoint worked_at() const { return worked_at_; }
  /// Why no record of the backlog may begin now, without the rate and the pool.
  HoldBits blocked_by();
  /// How many of up to `wanted` new records may begin now: by the rate, and by the subscriber's workers.
  /// Their places are given back by ended(), or by give_back() if the records have not entered.
  std::uint32_t begin(std::uint32_t wanted, TimePoint now) { return begin(new_, wanted, now); }
  /// The same for one failed record.
  bool begin_failed(TimePoint now) { return begin(failed_, 1, now) > 0; }
  /// Places that no record has taken since begin().
  void give_back();
  /// The records that begin() has let begin: charged to the rate.
  void charge(std::uint32_t records, std::uint64_t bytes, TimePoint now);
  /// The same for a failed record that runs again.
  void charge_failed(std::uint64_t bytes, TimePoint now);
  /// Records of this line go to the pool, and have left it.
  void entered(std::uint32_t records);
  void ended(std::uint32_t records);
  bool rate_waits(TimePoint now) { return new_.rate && new_.rate->waits(now); }
  TimePoint rate_ready_at(TimePoint now) { return new_.rate ? new_.rate->ready_at(now) : now; }
  /// When the first waiting record may begin, as far as that is known; nullopt if none waits.
  std::optional<TimePoint> next_attempt(TimePoint now);
  /// At the pace of a downstream, failed records and new ones take turns.
  bool leaves_turn_to_new() const { return new_.rate && new_.rate->turn_of_new() && !backlog_.empty(); }
  void took_failed();
  /// No new record, or no failed one, wants to begin now: their share of the limits goes to the others.
  void leave_new(TimePoint now) { leave(new_, now); }
  void leave_failed(TimePoint now) { leave(failed_, now); }
  /// The lane has ended: its places are free for others, and `on_place` is not called any more. Whoever
  /// destroys a line may hold the locks of its lanes, which `on_place` takes: so this comes before.
  void leave_places();

  void wait(handler::Item item, TimePoint now);
  const std::deque<handler::Item>& backlog() const { return backlog_; }
  /// Takes out the first record, or the one at this place. O(place).
  handler::Item pop(std::size_t place = 0);
  /// Takes the records that `chosen` picks out of the backlog. O(n).
  std::vector<handler::Item> take(const std::function<bool(const handler::Item&)>& chosen);
  void clear_backlog();
  /// How many more records can be finished in the time `left`, by the rate and, for a subscriber, by its
  /// workers and the measured time of its calls: none while that is not known. The pool may allow fewer.
  std::uint64_t fitting(Duration left, TimePoint now) const;
  /// A drain keeps the first `keep` records of the backlog; those behind them, and those that come later, are
  /// for the next owner of the partition.
  std::vector<handler::Item> give_back_beyond(std::uint64_t keep);
  bool gives_back() const { return gives_back_; }
  /// An attempt has taken so long.
  void note_call(Duration took) const;
  /// Memory of the backlog.
  std::uint64_t bytes() const { return bytes_; }
  /// The same, with the records that stay as long as a sub-job of the backlog.
  std::uint64_t bytes_kept() const { return bytes_ + whole_bytes_; }
  /// Whether the line can be dropped: no backlog, no waiting, running or leaving records.
  bool unused() const {
    return backlog_.empty() && attempts_.waiting().size() == 0 && running_ == 0 && leaving_ == 0;
  }
  /// Parked records are being written, and have been: they take no places.
  void begin_leaving(std::uint32_t records) { leaving_ += records; }
  void end_leaving(std::uint32_t records) { leaving_ -= records; }

 private:
  struct Asker {
    Places::Asker place;
    std::optional<LaneRate> rate{};  // nullopt if the lane's intake keeps the same rate
    bool asks = false;
    bool waits_for_place = false;
  };
  bool at_limit(TimePoint now) { return rate_waits(now) || retries_full_ || new_.waits_for_place; }
  /// Whether the line itself kept its backlog waiting for most of the last seconds.
  bool keeps_back() const { return kept_share_ >= 0.5; }
  void count(handler::Item& item);
  void count_out(const handler::Item& item);
  std::uint32_t begin(Asker& asker, std::uint32_t wanted, TimePoint now);
  void leave(Asker& asker, TimePoint now);

  const LaneContext& lane_;
  const StageContext& stage_;
  const std::shared_ptr<KeyedLimit> subscriber_;
  Attempts attempts_;
  Asker new_;
  Asker failed_;
  bool retries_full_ = false;
  std::optional<TimePoint> out_since_;
  TimePoint worked_at_{};  // zero before the first record
  bool gives_back_ = false;
  bool uses_places_ = false;
  std::deque<handler::Item> backlog_;
  std::uint64_t bytes_ = 0;
  std::uint64_t whole_bytes_ = 0;
  std::uint32_t reserved_ = 0;  // of the subscriber's places, by begin()
  std::uint32_t running_ = 0;   // the same, with the records in the pool
  std::uint32_t leaving_ = 0;
  KeyedLimit::Waiting noted_;   // by note_waiting()
  KeyedLimit::AtWork at_work_;  // by note_at_work(), which keeps the next four
  std::uint32_t counted_ = 0;
  TimePoint looked_at_{};  // zero while nothing waits
  double kept_share_ = 1;
  TimePoint kept_since_{};
};

}  // namespace laneway::lane
