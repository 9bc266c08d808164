// What lanes did in the last while: how fast they are, and since when one makes no progress.
//
// Pure: views and times are given in, about once a second; times must not go back. A lane is known by its
// epoch, so a partition that comes back begins anew. Not thread-safe. Memory is bounded by the lanes of the
// last call.
#pragma once

#include <deque>
#include <map>
#include <vector>

#include "service/lane_view.h"

namespace laneway::service {

class LaneHistory {
 public:
  /// Rates are over this long.
  static constexpr Duration window = seconds(10);

  void observe(const std::vector<LaneView>& lanes, TimePoint now);

  /// Records done a second: neither dead letters nor those that went on to a retry topic.
  double rate(const LaneView& lane) const;
  /// Dead letters a second.
  double dead_letter_rate(const LaneView& lane) const;
  /// Since when there is something to do, allowed to be done, and nothing is finished or committed.
  Duration without_progress(const LaneView& lane, TimePoint now) const;
  /// Since when it is held without a break, other than by hand.
  Duration held(const LaneView& lane, TimePoint now) const;

 private:
  struct Sample {
    TimePoint at;
    std::uint64_t done;
    std::uint64_t dead_letters;
  };
  struct Lane {
    LaneView last;
    std::deque<Sample> samples;
    TimePoint progressed;
    TimePoint running;
  };

  double rate_of(const LaneView& lane, std::uint64_t Sample::*count) const;

  std::map<std::uint64_t, Lane> lanes_;  // by epoch
};

}  // namespace laneway::service
