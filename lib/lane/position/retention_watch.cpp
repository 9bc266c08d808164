#include "lane/position/retention_watch.h"

#include <algorithm>

namespace laneway::lane {

void RetentionWatch::observe(const kafka::LogBounds& log, std::int64_t position) {
  if (log.start < 0 || position < 0) return;
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
}

}  // namespace laneway::lane
