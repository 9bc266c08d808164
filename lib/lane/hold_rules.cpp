#include "lane/hold_rules.h"

namespace laneway::lane {
namespace {

/// A full resource must be free again by a quarter before the lane goes on.
bool stays_full(std::uint64_t value, std::uint64_t limit, bool was_full) {
  return value >= (was_full ? limit - limit / 4 : limit);
}

}  // namespace

void HoldRules::update(TimePoint now) {
  auto& state = lane_.state;
  const auto was = state.state();
  const auto blocked = lane_.stages.blocked(now);
  for (const auto setter : {HoldSetter::pools, HoldSetter::lane, HoldSetter::rate})
    for (const auto& reason : hold_reasons)
      if (reason.set_by == setter)
        state.set(reason.hold, applies(reason.hold, now) || (blocked & bit(reason.hold)) != 0, now);
  lane_.stages.set_eager(state.state() == State::draining || state.has(Hold::window_full) ||
                         state.has(Hold::memory_full) || lane_.gate.careful());
  if (state.state() != was) show();
}

bool HoldRules::applies(Hold reason, TimePoint now) {
  const auto is_reached = [&](std::uint64_t value, std::uint64_t limit) {
    return stays_full(value, limit, lane_.state.has(reason));
  };
  switch (reason) {
    case Hold::window_full:
      return is_reached(lane_.ledger.window(), context_.lanes.max_incomplete);
    case Hold::memory_full:
      return is_reached(lane_.stages.bytes(), context_.memory.lane_bytes);
    case Hold::position:
      return lane_.position.blocked();
    case Hold::rate_limited:
      return waits_for_rate(now);
    case Hold::pool_full:
    case Hold::retries_full:
    case Hold::breaker_open:  // the pools know
    case Hold::map_full:
    case Hold::suspended:  // their owners know
    case Hold::count:
      break;
  }
  return false;
}

bool HoldRules::waits_for_rate(TimePoint now) {
  if (!lane_.state.held_by_other_than(Hold::rate_limited) || lane_.stages.due(now))
    return lane_.rate.waits(now);
  lane_.rate.leave(now);  // no record is wanted
  return false;
}

bool HoldRules::set(Hold reason, bool present, TimePoint now) {
  if (lane_.state.has(reason) == present) return false;
  lane_.state.set(reason, present, now);
  show();
  return true;
}

void HoldRules::show() {
  lane_.stats.state.set(lane_.state.state());
  lane_.stats.hold_bits.set(lane_.state.reasons());
}

HeldBy HoldRules::describe(const HoldReason& reason) const {
  HeldBy held{reason.code, reason.cause, reason.words};
  if (reason.hold == Hold::pool_full && lane_.stages.waits_for_memory())
    held.words = "no memory for further results";
  if (reason.hold == Hold::pool_full && lane_.gate.closed()) held.words = "waits for its first commit";
  if (reason.hold == Hold::pool_full && lane_.gate.careful()) held.words = "a few records at a time";
  if (reason.hold == Hold::rate_limited && lane_.rate.keeps_pace())
    held.words = "the downstream asks for fewer calls";
  if (reason.hold == Hold::rate_limited && (lane_.rate.keeps_pace() || lane_.stages.keeps_pace()))
    held.cause = HoldCause::downstream;
  if (reason.hold == Hold::position && lane_.position.corrupt()) held.words = "corrupt records";
  return held;
}

std::vector<HeldBy> HoldRules::reasons() const {
  std::vector<HeldBy> held;
  for (const auto& reason : hold_reasons)
    if (lane_.state.has(reason.hold)) held.push_back(describe(reason));
  return held;
}

std::string HoldRules::held_by() const {
  std::string text;
  for (const auto& held : reasons()) text.append(text.empty() ? "" : ", ").append(held.words);
  return text;
}

}  // namespace laneway::lane
