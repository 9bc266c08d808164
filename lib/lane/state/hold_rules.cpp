#include "lane/state/hold_rules.h"

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
  const auto limit = [&](Hold reason, std::uint64_t value, std::uint64_t most) {
    state.set(reason, stays_full(value, most, state.has(reason)), now);
  };
  const auto blocked = lane_.stages.blocked(now);
  for (const auto reason : {Hold::pool_full, Hold::retries_full, Hold::breaker_open})
    state.set(reason, (blocked & bit(reason)) != 0, now);
  limit(Hold::window_full, lane_.ledger.window(), context_.lanes.max_incomplete);
  limit(Hold::memory_full, lane_.stages.bytes(), context_.memory.lane_bytes);
  state.set(Hold::position, lane_.position.blocked(), now);
  const bool wants_none = state.held_by_other_than(Hold::rate_limited) && !lane_.stages.due(now);
  if (wants_none) lane_.rate.leave(now);
  const bool pools_wait = (blocked & bit(Hold::rate_limited)) != 0;
  state.set(Hold::rate_limited, (!wants_none && lane_.rate.waits(now)) || pools_wait, now);
  lane_.stages.set_eager(state.state() == State::draining || state.has(Hold::window_full) ||
                         state.has(Hold::memory_full) || lane_.gate.careful());
  if (state.state() != was) show();
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

std::string_view HoldRules::words_of(const HoldReason& reason) const {
  if (reason.hold == Hold::pool_full && lane_.gate.careful()) return "a few records at a time";
  if (reason.hold == Hold::pool_full && lane_.gate.closed()) return "waits for its first commit";
  if (reason.hold == Hold::pool_full && lane_.stages.waits_for_memory())
    return "no memory for further results";
  if (reason.hold == Hold::rate_limited && lane_.rate.keeps_pace())
    return "the downstream asks for fewer calls";
  if (reason.hold == Hold::position && lane_.position.corrupt()) return "corrupt records";
  return reason.words;
}

std::string HoldRules::held_by() const {
  std::string text;
  for (const auto& reason : hold_reasons) {
    if (!lane_.state.has(reason.hold)) continue;
    if (!text.empty()) text += ", ";
    text += words_of(reason);
  }
  return text;
}

}  // namespace laneway::lane
