// The recent history of lanes: how fast they are, and since when a lane makes no progress.
//
// Pure: views and times are given in, about once per second; times must not go back. A lane is identified by
// its epoch, so a partition that comes back starts again. Not thread-safe. Memory is bounded by the lanes of
// the last call.
#pragma once

#include <deque>
#include <map>
#include <vector>

#include "lane/state/lane_detail.h"
#include "service/lane_view.h"

namespace laneway::service {

class LaneHistory {
 public:
  /// The time over which rates are computed.
  static constexpr Duration window = seconds(10);

  void observe(const std::vector<LaneView>& lanes, TimePoint now);

  /// Records done per second, without dead letters and without records that went to a retry topic.
  double rate(const LaneView& lane) const;
  /// Dead letters per second.
  double dead_letter_rate(const LaneView& lane) const;
  /// Attempts that end per second in a named pool, by its place.
  double pool_rate(const LaneView& lane, std::size_t pool) const;
  /// How long nothing has been finished or committed, although there is work that may be done.
  Duration without_progress(const LaneView& lane, TimePoint now) const;
  /// Whether the last error is history: its record is finished, and records of the lane have been done since.
  bool error_is_over(const LaneView& lane, const lane::LaneDetail& detail) const;
  /// How long the lane has been held without a break, other than by an operator.
  Duration held(const LaneView& lane, TimePoint now) const;

 private:
  struct Sample {
    TimePoint at;
    std::uint64_t done;
    std::uint64_t dead_letters;
    std::vector<std::uint64_t> of_pools;  // attempts
  };
  struct Lane {
    LaneView last;
    std::deque<Sample> samples;
    TimePoint progressed;
    TimePoint running;
    TimePoint observed;
    /// An error until this time is over if its record is finished. Between two looks, nobody knows what came
    /// first; but if no record was given up, the record of the error was done after the error.
    TimePoint worked{};
  };

  /// `count`: of a sample.
  template <class Count>
  double rate_of(const LaneView& lane, Count count) const;

  std::map<std::uint64_t, Lane> lanes_;  // by epoch
};

}  // namespace laneway::service
