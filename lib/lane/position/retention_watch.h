// Warns before retention overtakes a lane.
//
// Retention deletes whole segments, so the log's start moves in steps. A lane is in danger when a next step
// of the same length as the last one would delete records that the lane has not finished, although the lane
// goes on as fast as between the last two steps.
//
// Pure; one owner, one thread.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kafka/types.h"

namespace laneway::lane {

class RetentionWatch {
 public:
  /// `position`: the lane's oldest unfinished offset. Unknown offsets (negative) are ignored. Returns whether
  /// the lane is in danger.
  bool observe(const kafka::LogBounds& log, std::int64_t position) {
    if (log.start < 0 || position < 0) return in_danger_;
    if (start_ < 0 || log.start < start_ || position < position_) {  // the first observation, or another log
      *this = {};
      start_ = log.start;
      position_ = position;
    } else if (log.start > start_) {
      step_ = log.start - start_;
      progress_ = position - position_;
      start_ = log.start;
      position_ = position;
    }
    distance_ = position - start_;
    const auto at_next_step = std::max(position, position_ + progress_);
    in_danger_ = step_ > 0 && position < log.end && at_next_step < start_ + step_;
    return in_danger_;
  }
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
