#include "lane/intake/fetch_pause.h"

namespace laneway::lane {
namespace {

constexpr Duration short_wait = seconds(10);
/// A lane with work looks at the time this often.
constexpr Duration between_looks = milliseconds(50);

}  // namespace

/// A shorter pause would only discard what has been fetched, every time.
bool FetchPause::rate_is_reason(TimePoint now) {
  return state_.has(Hold::rate_limited) && rate_.ready_at(now) - now >= short_wait;
}

bool FetchPause::pause_due(TimePoint now) {
  if (!state_.pause_due(now) || state_.has(Hold::position)) return false;
  return state_.held_by_other_than(Hold::rate_limited) || rate_is_reason(now);
}

bool FetchPause::resume_due(std::optional<Duration> work_left, TimePoint now) {
  if (state_.state() != State::paused) return false;
  if (!state_.held_by_anything()) return true;
  if (state_.held_lastingly() || rate_is_reason(now)) return false;
  // Fetching starts again while the remaining work lasts until the first record arrives.
  const auto lead = 2 * (latency_ + between_looks);
  return work_left && *work_left <= lead;
}

void FetchPause::record_came(Histogram& latencies, TimePoint now) {
  const auto latency = now - *resumed_at_;
  latencies.record(latency);
  latency_ = (latency_ * 3 + latency) / 4;
  resumed_at_.reset();
}

}  // namespace laneway::lane
