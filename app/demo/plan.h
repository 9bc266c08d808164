// How many records come when, and how slow the work on them is: uneven and in bursts, so that some lanes are
// overloaded for a while, and yet all can be worked off. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "base/time.h"

namespace laneway::demo {

inline constexpr std::int32_t partitions = 8;
inline constexpr std::uint32_t workers = 4;  // of a lane
inline constexpr std::uint32_t queue = 32;   // of a lane

class Plan {
 public:
  Plan(std::uint64_t records, Duration length);

  /// For each partition, how many records have come `elapsed` after the beginning; all of them from
  /// produce_for() on.
  std::vector<std::uint64_t> due(Duration elapsed) const;
  /// The stretches of the demo.
  Duration second_joins() const { return length_ / 3; }
  Duration second_leaves() const { return length_ * 2 / 3; }
  Duration produce_for() const { return length_ * 3 / 4; }
  /// The median time that the work on a record takes: the busiest lane's workers are a little faster than its
  /// average, and much slower than its bursts. In whole milliseconds, from 1 to 200.
  milliseconds work() const;

 private:
  const std::uint64_t records_;
  const Duration length_;
};

}  // namespace laneway::demo
