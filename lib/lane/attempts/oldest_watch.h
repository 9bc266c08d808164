// Watches the oldest unfinished record of a lane: it holds back the commits, and its window grows. Reports
// when the record has held back the others for too long; ledger.policy decides what follows.
//
// Ownership: the lane's; what the constructor is given outlives this. Threads: the loop's. Nothing blocks.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "config/config.h"
#include "delivery/dead_letter/dead_letter.h"
#include "lane/ledger/ledger.h"
#include "lane/ledger/waiting_records.h"
#include "lane/shared/downstream.h"
#include "lane/state/lane_detail.h"
#include "lane/state/lane_id.h"
#include "lane/state/lane_state.h"
#include "lane/state/lane_stats.h"

namespace laneway::lane {

class OldestWatch {
 public:
  /// What the watch looks at, and the numbers that it writes. The settings follow those of the service.
  struct Members {
    const config::LaneSettings& lanes;
    const config::LedgerSettings& rules;
    const Downstream& downstream;  ///< of the first stage
    const LaneId& id;
    const Ledger& ledger;
    const LaneState& state;
    LaneStats& stats;
  };
  /// `delayed`: the topic is a retry topic, in which records are meant to wait.
  OldestWatch(const Members& members, bool delayed) : lane_(members), delayed_(delayed) {}

  struct Outlived {
    Sequence sequence;
    delivery::DeadLetterReason why;
    bool is_new;  ///< The record has not been reported yet.
  };
  /// Looks at the oldest record. Returns it when it has held back the others for too long.
  /// `waiting`: of every line that has such records; `works`: each downstream does.
  std::optional<Outlived> tick(const std::vector<const WaitingRecords*>& waiting, bool works, TimePoint now);
  /// The same between ticks. While the downstream is out, all records wait, so none is too old.
  std::optional<delivery::DeadLetterReason> outlived(TimePoint now) const;
  /// Whether the record was the oldest at the last tick.
  bool is_oldest(Sequence sequence) const { return sequence == seen_; }
  /// How long the record has been the oldest; zero if another record is the oldest.
  Duration age(Sequence sequence, TimePoint now) const {
    return sequence == seen_ && since_ != TimePoint{} ? now - since_ : Duration::zero();
  }
  void report(const OldestRecord& record, TimePoint now) const;
  /// The log was replaced by another one.
  void start_over() { since_ = {}; }

 private:
  using Waiting = std::vector<const WaitingRecords*>;
  TimePoint due_since(Sequence oldest, const Waiting& waiting, TimePoint now) const;
  std::uint64_t done_before(Sequence oldest, const Waiting& waiting) const;
  bool out() const { return !works_ || !lane_.downstream.closed(); }
  bool overtaken() const;

  const Members lane_;
  const bool delayed_;
  Sequence seen_ = 0;
  TimePoint since_{};
  TimePoint last_out_{};           // when the downstream was out last
  std::uint64_t done_before_ = 0;  // see done_before()
  bool outlived_seen_ = false;
  bool works_ = true;  // each downstream, at the last tick
};

}  // namespace laneway::lane
