// The oldest record of a lane that is not done: it holds back the commits, and its window grows. Says when
// the record has held back the others for too long; what is done about it is ledger.policy.
//
// Ownership: the lane's; what the constructor is given outlives this. Threads: the loop's. Nothing blocks.
#pragma once

#include <cstdint>
#include <optional>

#include "delivery/dead_letter/dead_letter.h"
#include "lane/lane_detail.h"
#include "lane/ledger/ledger.h"
#include "lane/ledger/waiting_records.h"
#include "lane/shared/lane_context.h"
#include "lane/state/lane_id.h"
#include "lane/state/lane_state.h"
#include "lane/state/lane_stats.h"

namespace laneway::lane {

class OldestWatch {
 public:
  /// `delayed`: the topic is a retry topic, in which records are meant to wait.
  OldestWatch(const LaneContext& context, const LaneId& id, const Ledger& ledger, const LaneState& state,
              bool delayed, LaneStats& stats)
      : context_(context), id_(id), ledger_(ledger), state_(state), stats_(stats), delayed_(delayed) {}

  struct Outlived {
    Sequence sequence;
    delivery::DeadLetterReason why;
    bool is_new;  ///< Nothing has been said about this record yet.
  };
  /// Looks at the oldest record; answers when it has held back the others for too long.
  std::optional<Outlived> tick(const WaitingRecords& waiting, TimePoint now);
  /// The same at any other time. While the downstream is out, all records wait.
  std::optional<delivery::DeadLetterReason> outlived(TimePoint now) const;
  /// The record was the oldest when this looked last.
  bool is_oldest(Sequence sequence) const { return sequence == seen_; }
  /// For so long the record has been the oldest; zero if it is another one.
  Duration age(Sequence sequence, TimePoint now) const {
    return sequence == seen_ && since_ != TimePoint{} ? now - since_ : Duration::zero();
  }
  void report(const OldestRecord& record, TimePoint now) const;
  /// The log is another one.
  void start_over() { since_ = {}; }

 private:
  TimePoint due_since(Sequence oldest, const WaitingRecords& waiting, TimePoint now) const;
  std::uint64_t done_before(Sequence oldest, const WaitingRecords& waiting) const;
  bool overtaken() const;

  const LaneContext& context_;
  const LaneId& id_;
  const Ledger& ledger_;
  const LaneState& state_;
  LaneStats& stats_;
  const bool delayed_;
  Sequence seen_ = 0;
  TimePoint since_{};
  TimePoint last_out_{};           // the downstream was out
  std::uint64_t done_before_ = 0;  // see done_before()
  bool outlived_seen_ = false;
};

}  // namespace laneway::lane
