// When records arrive, and how long the work on each takes: unevenly and in bursts, so that some lanes are
// overloaded for a while, and all records are still finished in the end. Pure.
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

  /// For each partition, the number of records that have arrived `elapsed` after the beginning; all records
  /// after produce_for().
  std::vector<std::uint64_t> due(Duration elapsed) const;
  /// The durations of the parts of the demo.
  Duration second_joins() const { return length_ / 3; }
  Duration second_leaves() const { return length_ * 2 / 3; }
  Duration produce_for() const { return length_ * 3 / 4; }
  /// The median duration of the work on a record: the workers of the busiest lane are a little faster than
  /// its average load, and much slower than its bursts. In whole milliseconds, from 1 to 200.
  milliseconds work() const;

 private:
  const std::uint64_t records_;
  const Duration length_;
};

}  // namespace laneway::demo
