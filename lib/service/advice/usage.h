// How the lanes were used in the last five minutes: the facts on which advice is based.
//
// Pure: views, times and processor time are given in, about once per second; times must not go back. A lane
// is identified by its epoch, and starts again when its number of workers changes. Not thread-safe. Memory is
// bounded by the lanes of the last call, about 1.5 KiB each.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "service/lane_view.h"

namespace laneway::service {

/// Shares are of `span`, from 0 to 1.
struct LaneUsage {
  std::string name;
  Duration span{};         ///< the observed time
  double all_busy = 0;     ///< share in which no worker was free
  double used = 0;         ///< running workers, on average
  double idle = 0;         ///< share in which at least half of the workers were free
  double outstanding = 0;  ///< records running and queued, on average
  double rate = 0;         ///< records finished per second
  double lag_growth = 0;   ///< records per second
  std::int64_t lag = 0;    ///< at the end; 0 also if not known
  std::array<double, lane::hold_reasons.size()> held{};  ///< shares, by lane::index_of

  double held_by(lane::Hold reason) const { return held[lane::index_of(reason)]; }
};

struct Usage {
  Duration span{};
  double cores = 0;              ///< processor cores that the process kept busy, on average
  std::size_t idle_members = 0;  ///< members that had no partition during the whole time
  std::size_t members = 0;
  std::vector<LaneUsage> lanes;
};

class UsageHistory {
 public:
  static constexpr Duration window = std::chrono::minutes(5);

  /// `cpu`: processor time of the process so far. `idle_members`: members with an assignment without
  /// partitions.
  void observe(const std::vector<LaneView>& lanes, std::size_t members, std::size_t idle_members,
               Duration cpu, TimePoint now);
  Usage usage() const;

 private:
  static constexpr Duration slice = seconds(30);

  struct LaneSlice {
    TimePoint begun;
    std::int64_t lag = -1;       // when it began
    std::uint64_t finished = 0;  // when it began
    std::uint32_t samples = 0;
    std::uint32_t all_busy = 0;
    std::uint32_t idle = 0;
    std::uint64_t used = 0;         // sum of the samples
    std::uint64_t outstanding = 0;  // sum of the samples
    std::array<std::uint32_t, lane::hold_reasons.size()> held{};
  };
  struct Lane {
    LaneView last;
    TimePoint at;
    std::deque<LaneSlice> slices;
  };
  struct ProcessSlice {
    TimePoint begun;
    Duration cpu;  // when it began
    std::size_t idle_members;
  };

  static void add(Lane& lane, const LaneView& view, TimePoint now);
  static LaneUsage usage_of(const Lane& lane);

  std::map<std::uint64_t, Lane> lanes_;  // by epoch
  std::deque<ProcessSlice> process_;
  Duration cpu_{};
  TimePoint at_;
  std::size_t members_ = 0;
};

}  // namespace laneway::service
