// Warns before retention overtakes a lane.
//
// Retention deletes whole segments, so the log's start moves in steps. A lane is in danger when a next step
// of the same length as the last one would delete records that the lane has not finished, although the lane
// goes on as fast as between the last two steps.
//
// Pure; one owner, one thread.
#pragma once

#include <cstdint>

#include "kafka/types.h"

namespace laneway::lane {

class RetentionWatch {
 public:
  /// `position`: the lane's oldest unfinished offset. Unknown offsets (negative) are ignored.
  void observe(const kafka::LogBounds& log, std::int64_t position);
  /// By the last observation.
  bool in_danger() const { return in_danger_; }
  /// Records from the log's start to the position.
  std::int64_t distance() const { return distance_; }
  std::int64_t last_step() const { return step_; }

 private:
  std::int64_t start_ = kafka::no_offset;
  std::int64_t position_ = kafka::no_offset;  // when the start moved last, or was first seen
  std::int64_t step_ = 0;
  std::int64_t progress_ = 0;  // of the position between the last two steps
  std::int64_t distance_ = 0;
  bool in_danger_ = false;
};

}  // namespace laneway::lane
