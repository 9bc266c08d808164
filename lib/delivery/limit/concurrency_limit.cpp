#include "delivery/limit/concurrency_limit.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "delivery/limit/aimd.h"
#include "delivery/limit/latency_limit.h"
#include "delivery/limit/latency_rules.h"

namespace laneway::delivery {
namespace {

constexpr double back_off = 0.9;
constexpr double strongest = 0.5;
constexpr double mostly = 0.5;
constexpr Duration trial_interval = seconds(30);
constexpr Duration longest_interval = seconds(600);  // a trial lasts as long as a quiet night
constexpr Duration shortest_burst = seconds(1);
constexpr Duration longest_burst = seconds(8);

std::unique_ptr<LimitAlgorithm> make(LimitKind kind) {
  if (kind == LimitKind::aimd) return std::make_unique<Aimd>();
  return std::make_unique<LatencyLimit>(kind == LimitKind::vegas ? vegas : gradient);
}

std::string number(double value, const char* unit) {
  char text[32];
  std::snprintf(text, sizeof text, value < 10 ? "%.1f %s" : "%.0f %s", value, unit);
  return text;
}

std::string time_in_words(double in_seconds) {
  if (in_seconds < 1e-3) return number(in_seconds * 1e6, "µs");
  if (in_seconds < 1) return number(in_seconds * 1e3, "ms");
  return number(in_seconds, "s");
}

std::string words_of(const NextLimit& next, double latency) {
  if (next.reason == LimitReason::success) return "calls succeed and the limit is used";
  if (next.reason == LimitReason::probe) return "the latency without a queue is measured";
  if (next.reason != LimitReason::latency) return {};
  return "latency rose from " + time_in_words(next.latency_before) + " to " + time_in_words(latency);
}

/// The kind of most dropped calls, and how many they are: "429 for 14 of 100 calls".
std::pair<LimitReason, std::string> most_dropped(const LimitWindow::Sum& window) {
  auto reason = LimitReason::unavailable;
  auto calls = window.unavailable;
  const char* kind = "\"not now\"";
  if (window.timeouts > calls)
    reason = LimitReason::timeout, calls = window.timeouts, kind = "no answer in time";
  if (window.throttled > calls) reason = LimitReason::throttled, calls = window.throttled, kind = "429";
  return {reason, std::string(kind) + " for " + std::to_string(calls) + " of " +
                      std::to_string(window.calls()) + " calls"};
}

std::string words_of_baseline(const DropCount& calls) {
  return number(100 * calls.share(), "%") + " of the calls fail, however few are made at once";
}

/// Calls that began before a change may still time out.
Duration settling(const LimitWindow::Sum& window) {
  return from_seconds(std::max(window.latency, window.longest_timeout));
}

}  // namespace

ConcurrencyLimit::ConcurrencyLimit(LimitKind kind, LimitBounds bounds)
    : algorithm_(make(kind)), bounds_(bounds), limit_(bounds.min) {}

std::optional<LimitChange> ConcurrencyLimit::ended(const EndedCalls& calls, TimePoint now) {
  window_.add(calls, now);
  if (!window_.due(limit_, now)) return {};
  return decide(window_.close(now), now);
}

std::optional<LimitChange> ConcurrencyLimit::decide(const LimitWindow::Sum& window, TimePoint now) {
  const DropCount calls{window.calls(), window.dropped(), window.time, from_seconds(window.longest_timeout)};
  if (window.dropped() > 0) dropping_ = window;
  if (trial_) return judge(calls, now);
  baseline_.count(calls, now);
  if (baseline_.exceeded()) return exceeded(std::min(limit_, window.in_flight), now);
  const auto next = algorithm_->next(window, limit_, bounds_, now);
  return move(next, words_of(next, window.latency), from_seconds(window.latency), now);
}

std::optional<LimitChange> ConcurrencyLimit::exceeded(std::uint32_t used, TimePoint now) {
  const auto above = baseline_.above();
  if (!above.whole_wave()) return {};
  if (above.share() >= mostly || (now < overload_.until && limit_ > overload_.within)) {
    if (above.share() >= mostly) overload_.within = 0;
    baseline_.decided();
    return lower(dropping_, now);
  }
  if (now < overload_.until) return contradicted(now);
  if (overload_.until != TimePoint{}) overload_ = {}, burst_ = {};
  if (above.time < burst_) return {};
  baseline_.decided();
  trial_ = Trial{limit_, dropping_, now, {.timeout = above.timeout}};
  // Until calls have timed out that began before, few begin; and those time out after as long again.
  const auto settle = std::max(2 * above.timeout, from_seconds(dropping_.latency));
  return move({halved(used, dropping_), LimitReason::probe}, {}, settle, now);
}

std::optional<LimitChange> ConcurrencyLimit::judge(const DropCount& calls, TimePoint now) {
  trial_->calls.add(calls);
  if (trial_->calls.time < burst_) return {};
  const auto persists = baseline_.persists(trial_->calls);
  if (!persists) return {};
  const auto trial = *std::exchange(trial_, {});
  if (!*persists) {
    const auto lasting = std::clamp<Duration>(20 * (now - trial.begun), trial_interval, longest_interval);
    overload_ = {trial.limit, std::exchange(limit_, trial.limit), now + lasting};
    return lower(trial.window, now);
  }
  if (trial.calls.share() >= mostly) return lower(dropping_, now);
  baseline_.learn(trial.calls, now);
  return move({trial.limit, LimitReason::persistent}, words_of_baseline(trial.calls), settling(trial.window),
              now);
}

/// Calls are dropped at the limit at which a trial saw hardly any: it fell between two bursts of them.
std::optional<LimitChange> ConcurrencyLimit::contradicted(TimePoint now) {
  const auto before = std::exchange(overload_, {}).limit;
  const auto above = baseline_.above();
  burst_ = std::clamp<Duration>(2 * burst_, shortest_burst, longest_burst);
  baseline_.decided();
  return move({std::max(before, limit_), LimitReason::persistent}, words_of_baseline(above),
              settling(dropping_), now);
}

std::optional<LimitChange> ConcurrencyLimit::lower(const LimitWindow::Sum& window, TimePoint now) {
  algorithm_->lowered();
  const double share = static_cast<double>(window.dropped()) / static_cast<double>(window.calls());
  const double above = window.dropped_share * baseline_.part_above(share);
  auto [reason, words] = most_dropped(window);
  const auto next = std::lround(limit_ * std::clamp(1 - above, strongest, back_off));
  return move({std::min(static_cast<std::uint32_t>(next), limit_ - 1), reason}, std::move(words),
              settling(window), now);
}

std::optional<LimitChange> ConcurrencyLimit::breaker_opened(TimePoint now) {
  algorithm_->lowered();
  trial_.reset();
  baseline_.decided();
  const auto half = static_cast<std::uint32_t>(limit_ * strongest);
  return move({half, LimitReason::breaker}, "the breaker opened", {}, now);
}

std::optional<LimitChange> ConcurrencyLimit::change(LimitBounds bounds, TimePoint now) {
  bounds_ = bounds;
  if (trial_) trial_->limit = std::clamp(trial_->limit, bounds.min, bounds.max);
  if (trial_ && trial_->limit <= std::clamp(limit_, bounds.min, bounds.max)) trial_.reset();
  return move({limit_, LimitReason::settings}, "min or max were changed", {}, now);
}

std::optional<LimitChange> ConcurrencyLimit::move(NextLimit next, std::string words, Duration settle,
                                                  TimePoint now) {
  const auto from = limit_;
  limit_ = std::clamp(next.limit, bounds_.min, bounds_.max);
  if (limit_ == from) return {};
  window_.settle(settle, now);
  return LimitChange{from, limit_, next.reason, std::move(words)};
}

}  // namespace laneway::delivery
