#include "lane/hold_rules.h"

namespace laneway::lane {
namespace {

/// A full resource must be free again by a quarter before the lane goes on.
bool stays_full(std::uint64_t value, std::uint64_t limit, bool was_full) {
  return value >= (was_full ? limit - limit / 4 : limit);
}

}  // namespace

void HoldRules::update(const Work& work, TimePoint now) {
  auto& state = lane_.state;
  const auto was = state.state();
  for (const auto setter : {HoldSetter::pools, HoldSetter::lane, HoldSetter::rate})
    for (const auto& reason : hold_reasons)
      if (reason.set_by == setter)
        state.set(reason.hold, applies(reason.hold, work, now) || (work.blocked & bit(reason.hold)) != 0,
                  now);
  if (state.state() != was) show();
}

bool HoldRules::applies(Hold reason, const Work& work, TimePoint now) {
  const bool was = lane_.state.has(reason);
  switch (reason) {
    case Hold::window_full:
      return stays_full(lane_.ledger.window(), lane_.lanes.max_incomplete, was);
    case Hold::memory_full:
      return stays_full(work.bytes, lane_.memory.lane_bytes, was);
    case Hold::position:
      return lane_.position.blocked();
    case Hold::rate_limited:
      if (!lane_.rate.limited()) break;
      if (work.due || !lane_.state.held_by_other_than(Hold::rate_limited)) return lane_.rate.waits(now);
      lane_.rate.leave(now);  // no record is wanted
      break;
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

HeldBy HoldRules::describe(const HoldReason& reason, const Cause& cause) const {
  HeldBy held{reason.code, reason.cause, reason.words};
  if (reason.hold == Hold::pool_full && cause.waits_for_memory) held.words = "no memory for further results";
  if (reason.hold == Hold::pool_full && lane_.gate.closed()) held.words = "waits for its first commit";
  if (reason.hold == Hold::pool_full && lane_.gate.careful()) held.words = "a few records at a time";
  if (reason.hold == Hold::rate_limited && lane_.rate.keeps_pace())
    held.words = "the downstream asks for fewer calls";
  if (reason.hold == Hold::rate_limited && (lane_.rate.keeps_pace() || cause.keeps_pace))
    held.cause = HoldCause::downstream;
  if (reason.hold == Hold::position && lane_.position.corrupt()) held.words = "corrupt records";
  return held;
}

std::vector<HeldBy> HoldRules::reasons(const Cause& cause) const {
  std::vector<HeldBy> held;
  for (const auto& reason : hold_reasons)
    if (lane_.state.has(reason.hold)) held.push_back(describe(reason, cause));
  return held;
}

std::string HoldRules::held_by(const Cause& cause) const {
  std::string text;
  for (const auto& held : reasons(cause)) text.append(text.empty() ? "" : ", ").append(held.words);
  return text;
}

}  // namespace laneway::lane
