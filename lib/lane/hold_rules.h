// Which reasons hold a lane at a moment (hold_reasons.h): sets and releases each reason, from the state of
// the lane's members; reasons of an owner are set by their owner.
//
// Ownership: the lane's; what the constructor is given outlives this. Threads: the loop's. Nothing blocks.
// The rules are applied for each run of records, not for each record.
#pragma once

#include <string>
#include <vector>

#include "lane/commit/crash_gate.h"
#include "lane/ledger/ledger.h"
#include "lane/position/log_position.h"
#include "lane/shared/lane_context.h"
#include "lane/shared/lane_rate.h"
#include "lane/stage/stages.h"
#include "lane/state/lane_state.h"
#include "lane/state/lane_stats.h"

namespace laneway::lane {

class HoldRules {
 public:
  /// The members that can hold a lane, and those that are informed of a hold.
  struct Members {
    LaneState& state;
    const Ledger& ledger;
    const CrashGate& gate;
    const LogPosition& position;
    LaneRate& rate;
    Stages& stages;
    LaneStats& stats;
  };
  HoldRules(const LaneContext& context, const Members& members) : context_(context), lane_(members) {}

  void update(TimePoint now);
  /// Sets or releases a reason of another owner. Returns true if the reason is new or has ended.
  bool set(Hold reason, bool present, TimePoint now);
  /// Writes the numbers of the state to the stats.
  void show();
  /// Empty if the lane is not held.
  std::vector<HeldBy> reasons() const;
  /// The reasons in words.
  std::string held_by() const;

 private:
  /// Whether a reason is present, as far as it depends on the lane and not on its pools.
  bool applies(Hold reason, TimePoint now);
  bool waits_for_rate(TimePoint now);
  HeldBy describe(const HoldReason& reason) const;

  const LaneContext& context_;
  const Members lane_;
};

}  // namespace laneway::lane
