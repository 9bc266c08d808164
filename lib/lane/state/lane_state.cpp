#include "lane/state/lane_state.h"

namespace laneway::lane {

const char* name_of(State state) {
  switch (state) {
    case State::assigned:
      return "assigned";
    case State::running:
      return "running";
    case State::held:
      return "held";
    case State::paused:
      return "paused";
    case State::draining:
      return "draining";
    case State::revoked:
      return "revoked";
  }
  return "unknown";
}

void LaneState::go(State next, TimePoint now) {
  if (state_ == State::held) held_ += now - since_;
  if (state_ == State::paused) paused_ += now - since_;
  state_ = next;
  since_ = now;
}

bool LaneState::start(TimePoint now) {
  if (state_ != State::assigned) return false;
  go(reasons_ == 0 ? State::running : State::held, now);
  return true;
}

bool LaneState::hold(Hold reason, TimePoint now) {
  reasons_ |= bit(reason);
  if (state_ != State::running) return false;
  ++holds_;
  go(State::held, now);
  return true;
}

bool LaneState::release(Hold reason, TimePoint now) {
  reasons_ = static_cast<HoldBits>(reasons_ & ~bit(reason));
  // A paused lane ends its pause by resume(), because the client must resume too.
  if (state_ != State::held || reasons_ != 0) return false;
  go(State::running, now);
  return true;
}

bool LaneState::pause(TimePoint now) {
  if (state_ != State::held) return false;
  ++pauses_;
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
