// Which reasons hold a lane at a moment (hold_reasons.h): sets and releases each reason, from the state of
// the lane's members; reasons of an owner are set by their owner.
//
// Ownership: the lane's; what the constructor is given outlives this. Threads: the loop's. Nothing blocks.
// The rules are applied for each run of records, not for each record.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/config.h"
#include "lane/commit/crash_gate.h"
#include "lane/ledger/ledger.h"
#include "lane/position/log_position.h"
#include "lane/shared/lane_rate.h"
#include "lane/shared/memory_plan.h"
#include "lane/state/lane_state.h"
#include "lane/state/lane_stats.h"

namespace laneway::lane {

class HoldRules {
 public:
  /// The limits and the members that can hold a lane, and those that are informed of a hold.
  struct Members {
    const config::LaneSettings& lanes;
    const MemoryPlan& memory;
    LaneState& state;
    const Ledger& ledger;
    const CrashGate& gate;
    const LogPosition& position;
    LaneRate& rate;
    LaneStats& stats;
  };
  explicit HoldRules(const Members& members) : lane_(members) {}

  /// What the stages of the lane have, at a moment.
  struct Work {
    HoldBits blocked = 0;     ///< why nothing that is taken now could begin
    std::uint64_t bytes = 0;  ///< memory of the records
    bool due = false;         ///< a waiting record may begin; only asked if there is a rate
  };
  void update(const Work& work, TimePoint now);
  /// Sets or releases a reason of another owner. Returns true if the reason is new or has ended.
  bool set(Hold reason, bool present, TimePoint now);
  /// Writes the numbers of the state to the stats.
  void show();
  /// What the stages know about a hold that lasts, for its words.
  struct Cause {
    bool waits_for_memory = false;  ///< records wait until there is memory for their results
    bool keeps_pace = false;        ///< a downstream has asked for fewer calls
  };
  /// Empty if the lane is not held.
  std::vector<HeldBy> reasons(const Cause& cause) const;
  /// The reasons in words.
  std::string held_by(const Cause& cause) const;

 private:
  /// Whether a reason is present, as far as it depends on the lane and not on its pools.
  bool applies(Hold reason, const Work& work, TimePoint now);
  HeldBy describe(const HoldReason& reason, const Cause& cause) const;

  const Members lane_;
};

}  // namespace laneway::lane
