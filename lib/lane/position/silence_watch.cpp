#include "lane/position/silence_watch.h"

#include <algorithm>

namespace laneway::lane {

void SilenceWatch::begin_at(SilenceStep step) {
  next_ = step;
  due_ = unit_ * (1 << static_cast<int>(step));
}

void SilenceWatch::came(TimePoint now) {
  silent_ = {};
  counts_since_.reset();
  next_ = SilenceStep::seek;
  due_ = unit_;
  next_question_ = now + unit_;
}

void SilenceWatch::has_tried(SilenceStep step) {
  silent_ = unit_ * (1 << static_cast<int>(step));
  begin_at(step == SilenceStep::restart ? step : static_cast<SilenceStep>(static_cast<int>(step) + 1));
}

void SilenceWatch::hear(bool goes_on, TimePoint now) {
  if (!goes_on) return came(now);
  // However late an answer is, the step before it has had a full unit.
  if (counts_since_) silent_ += std::min(now - *counts_since_, unit_);
  if (!suspects()) next_question_ = now + unit_ / 2;
  counts_since_ = now;
}

std::optional<SilenceStep> SilenceWatch::step(bool worth_restarting) {
  if (silent_ < due_) return std::nullopt;
  const auto step = next_;
  if (step != SilenceStep::restart) {
    begin_at(static_cast<SilenceStep>(static_cast<int>(step) + 1));
    return step;
  }
  due_ += unit_ * (1 << static_cast<int>(SilenceStep::restart));
  return worth_restarting ? SilenceStep::restart : SilenceStep::seek;
}

}  // namespace laneway::lane
