// Decides when a held lane stops fetching, and when it starts again: early enough that the first records
// arrive when the rest is finished. Pausing makes the client discard what it has fetched, so the lane does
// not pause for a short hold.
//
// Ownership: the lane's; what the constructor is given outlives this. Threads: the loop's. Nothing blocks.
#pragma once

#include <optional>

#include "base/time.h"
#include "lane/shared/lane_rate.h"
#include "lane/state/lane_state.h"

namespace laneway::lane {

class FetchPause {
 public:
  FetchPause(const LaneState& state, LaneRate& rate) : state_(state), rate_(rate) {}

  bool pause_due(TimePoint now) {
    if (!state_.pause_due(now) || state_.has(Hold::position)) return false;
    return state_.held_by_other_than(Hold::rate_limited) || rate_is_reason(now);
  }
  /// `work_left`: how long the records that the lane has last; nullopt if not known.
  bool resume_due(std::optional<Duration> work_left, TimePoint now) {
    if (state_.state() != State::paused) return false;
    if (!state_.held_by_anything()) return true;
    if (state_.held_lastingly() || rate_is_reason(now)) return false;
    // Fetching starts again while the remaining work lasts until the first record arrives.
    const auto lead = 2 * (latency_ + between_looks);
    return work_left && *work_left <= lead;
  }

  /// The first record after a resume has arrived, after this time.
  void record_came(Duration latency) { latency_ = (latency_ * 3 + latency) / 4; }

 private:
  static constexpr Duration short_wait = seconds(10);
  /// A lane with work looks at the time this often.
  static constexpr Duration between_looks = milliseconds(50);

  /// A shorter pause would only discard what has been fetched, every time.
  bool rate_is_reason(TimePoint now) {
    return state_.has(Hold::rate_limited) && rate_.ready_at(now) - now >= short_wait;
  }

  const LaneState& state_;
  LaneRate& rate_;
  Duration latency_ = milliseconds(20);  // from a resume to the first record
};

}  // namespace laneway::lane
