// Decides when a held lane stops fetching, and when it starts again: early enough that the first records
// arrive when the rest is finished. Pausing makes the client discard what it has fetched, so the lane does
// not pause for a short hold.
//
// Ownership: the lane's; what the constructor is given outlives this. Threads: the loop's. Nothing blocks.
#pragma once

#include <optional>

#include "base/histogram.h"
#include "base/time.h"
#include "lane/shared/lane_rate.h"
#include "lane/state/lane_state.h"

namespace laneway::lane {

class FetchPause {
 public:
  FetchPause(const LaneState& state, LaneRate& rate) : state_(state), rate_(rate) {}

  bool pause_due(TimePoint now);
  /// `work_left`: how long the records that the lane has last; nullopt if not known.
  bool resume_due(std::optional<Duration> work_left, TimePoint now);

  void resumed(TimePoint now) { resumed_at_ = now; }
  /// Whether the first record after a resume is awaited.
  bool awaits_record() const { return resumed_at_.has_value(); }
  /// The awaited record has arrived.
  void record_came(Histogram& latencies, TimePoint now);

 private:
  bool rate_is_reason(TimePoint now);

  const LaneState& state_;
  LaneRate& rate_;
  std::optional<TimePoint> resumed_at_;
  Duration latency_ = milliseconds(20);  // from a resume to the first record
};

}  // namespace laneway::lane
