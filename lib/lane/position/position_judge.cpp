#include "lane/position/position_judge.h"

#include <algorithm>

namespace laneway::lane {

void PositionJudge::saw_end(std::int64_t end) {
  if (end >= expected_) return;
  was_empty_ = was_empty_ || end == 0;
  grew_ = grew_ || (highest_low_end_ != kafka::no_offset && end > highest_low_end_);
  highest_low_end_ = std::max(highest_low_end_, end);
}

PositionJudge::Verdict PositionJudge::hear(const kafka::LogBounds& bounds, TimePoint now) {
  bounds_ = bounds;
  if (bounds.start > expected_) return Verdict::forward;
  if (bounds.end >= expected_) return can_compare_ ? Verdict::compare : without_comparison();
  saw_end(bounds.end);
  if (low_answers_++ == 0) first_low_answer_ = now;
  const bool enough = low_answers_ >= least_answers && now - first_low_answer_ >= least_time;
  return enough ? Verdict::start_over : Verdict::ask_again;
}

PositionJudge::Verdict PositionJudge::compared(Comparison comparison) {
  switch (comparison) {
    case Comparison::same:
      return Verdict::stay;
    case Comparison::other:
      return Verdict::start_over;
    case Comparison::impossible:
      break;
  }
  can_compare_ = false;
  return without_comparison();
}

PositionJudge::Verdict PositionJudge::without_comparison() const {
  return was_empty_ || grew_ ? Verdict::start_over : Verdict::stay;
}

}  // namespace laneway::lane
