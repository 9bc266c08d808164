// What a lane may do at a moment, and for how long it has been held and paused.
//
//   Assigned ──► Running ◄──► Held ──► Paused         Held: something is full; records kept, popping stopped
//                   │           ▲         │           Paused: the hold lasted; fetching stopped at the client
//                   │           └─────────┤           (resume comes early, so Paused goes to Held or Running)
//                   └───────────┴─────────┴──► Draining ──► Revoked      (lost: straight to Revoked)
//
// A hold has counted reasons and ends when none remains; it becomes a pause when it lasts pause_after. The
// numbers and times of holds and pauses are those of the service's own reasons: a lane that is held only
// because an operator has suspended it counts in none. Pure: the time is given in and must not go back. One
// owner, one thread.
#pragma once

#include <array>
#include <cstdint>

#include "base/time.h"
#include "lane/state/hold_reasons.h"

namespace laneway::lane {

enum class State : std::uint8_t { assigned, running, held, paused, draining, revoked };
inline constexpr std::array state_names{"assigned", "running", "held", "paused", "draining", "revoked"};
constexpr const char* name_of(State state) { return state_names.at(static_cast<std::size_t>(state)); }
static_assert(name_of(State::revoked) == state_names.back(), "a name for each state");

class LaneState {
 public:
  explicit LaneState(Duration pause_after) : pause_after_(pause_after) {}

  /// Replaces the time after which a hold becomes a pause, also for a hold that has begun.
  void set_pause_after(Duration pause_after) { pause_after_ = pause_after; }

  State state() const { return state_; }
  /// Whether new records may be popped.
  bool may_take() const { return state_ == State::running; }
  bool has(Hold reason) const { return (reasons_ & bit(reason)) != 0; }
  bool held_by_anything() const { return reasons_ != 0; }
  bool held_by_other_than(Hold reason) const { return (reasons_ & ~bit(reason)) != 0; }
  /// Whether the lane is held by a reason that keeps it paused, whatever else is true.
  bool held_lastingly() const { return (reasons_ & reasons_that_last()) != 0; }
  /// Whether the current or last hold is the service's own, and not only an operator's.
  bool held_by_itself() const { return own_; }
  /// All reasons, as bits of Hold.
  HoldBits reasons() const { return reasons_; }

  /// Each of these returns true if the state changed.
  bool start(TimePoint now);
  bool set(Hold reason, bool present, TimePoint now);
  bool hold(Hold reason, TimePoint now) { return set(reason, true, now); }
  bool release(Hold reason, TimePoint now) { return set(reason, false, now); }
  /// Whether the hold has lasted long enough to stop fetching as well.
  bool pause_due(TimePoint now) const { return state_ == State::held && now - since_ >= pause_after_; }
  bool pause(TimePoint now);
  /// Resumes fetching: to Held while a reason remains (with a new pause_after to last), otherwise to Running.
  bool resume(TimePoint now);
  bool drain(TimePoint now);
  bool revoke(TimePoint now);

  /// How often and how long the lane has been held and paused, including the current stretch.
  struct Totals {
    std::uint64_t holds = 0;
    std::uint64_t pauses = 0;
    Duration held{};
    Duration paused{};
  };
  Totals totals(TimePoint now) const {
    auto totals = totals_;
    if (own_ && state_ == State::held) totals.held += now - counted_at_;
    if (own_ && state_ == State::paused) totals.paused += now - counted_at_;
    return totals;
  }

 private:
  void go(State next, TimePoint now);
  void count_time(TimePoint now);
  void follow_reasons(TimePoint now);

  Duration pause_after_;
  State state_ = State::assigned;
  HoldBits reasons_ = 0;
  bool own_ = true;         // see held_by_itself()
  TimePoint since_{};       // when the state was entered
  TimePoint counted_at_{};  // when totals_ was brought up to date
  Totals totals_;
};

}  // namespace laneway::lane
