#include "lane/state/lane_state.h"

namespace laneway::lane {

void LaneState::go(State next, TimePoint now) {
  count_time(now);
  state_ = next;
  since_ = now;
}

void LaneState::count_time(TimePoint now) {
  totals_ = totals(now);
  counted_at_ = now;
}

/// Whether the hold is the service's own may change while it lasts.
void LaneState::follow_reasons(TimePoint now) {
  const bool own = held_by_other_than(Hold::suspended);
  if (reasons_ == 0 || own == own_) return;
  count_time(now);
  own_ = own;
  if (own && state_ == State::held) ++totals_.holds;
  if (own && state_ == State::paused) ++totals_.pauses;
}

bool LaneState::start(TimePoint now) {
  if (state_ != State::assigned) return false;
  own_ = held_by_other_than(Hold::suspended);
  go(reasons_ == 0 ? State::running : State::held, now);
  return true;
}

bool LaneState::set(Hold reason, bool present, TimePoint now) {
  if (present == has(reason)) return false;
  reasons_ = static_cast<HoldBits>(reasons_ ^ bit(reason));
  const bool begins = state_ == State::running;
  // A paused lane ends its pause by resume(), because the client must resume too.
  const bool ends = state_ == State::held && reasons_ == 0;
  if (begins) own_ = reason != Hold::suspended;
  if (!begins && !ends) {
    follow_reasons(now);
    return false;
  }
  if (begins && own_) ++totals_.holds;
  go(begins ? State::held : State::running, now);
  return true;
}

bool LaneState::pause(TimePoint now) {
  if (state_ != State::held) return false;
  if (own_) ++totals_.pauses;
  go(State::paused, now);
  return true;
}

bool LaneState::resume(TimePoint now) {
  if (state_ != State::paused) return false;
  go(reasons_ == 0 ? State::running : State::held, now);
  return true;
}

bool LaneState::drain(TimePoint now) {
  if (state_ == State::draining || state_ == State::revoked) return false;
  go(State::draining, now);
  return true;
}

bool LaneState::revoke(TimePoint now) {
  if (state_ == State::revoked) return false;
  go(State::revoked, now);
  return true;
}

}  // namespace laneway::lane
