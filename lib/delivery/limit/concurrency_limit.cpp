#include "delivery/limit/concurrency_limit.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "delivery/limit/aimd.h"
#include "delivery/limit/latency_limit.h"
#include "delivery/limit/latency_rules.h"

namespace laneway::delivery {
namespace {

constexpr double back_off = 0.9;
constexpr double strongest = 0.5;
constexpr double few_dropped = 0.02;

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

}  // namespace

ConcurrencyLimit::ConcurrencyLimit(LimitKind kind, LimitBounds bounds)
    : algorithm_(make(kind)), bounds_(bounds), limit_(bounds.min) {}

std::optional<LimitChange> ConcurrencyLimit::ended(const EndedCalls& calls, TimePoint now) {
  window_.add(calls, now);
  if (!window_.due(limit_, now)) return {};
  return decide(window_.close(now), now);
}

std::optional<LimitChange> ConcurrencyLimit::decide(const LimitWindow::Sum& window, TimePoint now) {
  const auto dropped = static_cast<double>(window.dropped());
  if (dropped > few_dropped * static_cast<double>(window.calls())) return lower(window, now);
  const auto next = algorithm_->next(window, limit_, bounds_, now);
  return move(next, words_of(next, window.latency), from_seconds(window.latency), now);
}

std::optional<LimitChange> ConcurrencyLimit::lower(const LimitWindow::Sum& window, TimePoint now) {
  algorithm_->lowered();
  const double factor = std::clamp(1 - window.dropped_share, strongest, back_off);
  auto [reason, words] = most_dropped(window);
  // Calls that began before the change may still time out.
  const auto settle = from_seconds(std::max(window.latency, window.longest_timeout));
  return move({static_cast<std::uint32_t>(limit_ * factor), reason}, std::move(words), settle, now);
}

std::optional<LimitChange> ConcurrencyLimit::breaker_opened(TimePoint now) {
  algorithm_->lowered();
  const auto half = static_cast<std::uint32_t>(limit_ * strongest);
  return move({half, LimitReason::breaker}, "the breaker opened", {}, now);
}

std::optional<LimitChange> ConcurrencyLimit::change(LimitBounds bounds, TimePoint now) {
  bounds_ = bounds;
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
