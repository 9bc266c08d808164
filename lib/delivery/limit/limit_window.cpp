#include "delivery/limit/limit_window.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace laneway::delivery {
namespace {

constexpr std::uint64_t fewest_calls = 10;
constexpr double few_calls_vary = 0.25;  // of the average, at least: so few do not show how much they do
constexpr double wanted_noise = 0.1;     // of the average
constexpr Duration shortest = milliseconds(100);
constexpr double no_time = 1e-9;  // s: a call of a clock that stands still
constexpr Duration long_enough = seconds(1);
constexpr Duration very_long = seconds(10);
constexpr Duration too_long = seconds(60);

}  // namespace

void LimitWindow::begin(TimePoint now) {
  sum_ = {};
  parts_.clear();
  dropping_ = 0;
  latencies_.clear();
  seconds_ = dropped_seconds_ = running_seconds_ = 0;
  begun_ = counted_ = now;
  empty_ = false;
}

/// Few calls in a long time show something if they are slow, and nothing if hardly any were made.
bool LimitWindow::stale(const EndedCalls& calls, TimePoint now) const {
  const auto age = now - begun_;
  if (age <= too_long || dropped() > 0) return false;
  const double in_calls = seconds_ + to_seconds(calls.latency) * calls.worked;
  return in_calls * 2 < to_seconds(age) * std::max({sum_.in_flight, calls.in_flight, 1U});
}

void LimitWindow::add(const EndedCalls& calls, TimePoint now) {
  if (now < settled_) return;
  if (empty_ || stale(calls, now)) begin(now);
  const double latency = to_seconds(calls.latency);
  const auto ended = calls.worked + calls.dropped();
  sum_.worked += calls.worked;
  sum_.throttled += calls.throttled;
  sum_.timeouts += calls.timeouts;
  sum_.unavailable += calls.unavailable;
  sum_.in_flight = std::max(sum_.in_flight, calls.in_flight);
  running_seconds_ += running_ * to_seconds(now - counted_);
  running_ = std::max(calls.in_flight, ended) - ended;
  counted_ = now;
  if (calls.timeouts > 0) sum_.longest_timeout = std::max(sum_.longest_timeout, latency);
  seconds_ += latency * calls.worked;
  dropped_seconds_ += latency * calls.dropped();
  if (calls.worked > 0) latencies_.add(latency, calls.worked);
  if (calls.part == nullptr) return;
  bool& drops = parts_[calls.part];
  if (drops || calls.dropped() == 0) return;
  drops = true;
  ++dropping_;
}

std::uint64_t LimitWindow::dropped() const {
  return parts_.empty() || dropping_ * 2 > parts_.size() ? sum_.dropped() : 0;
}

bool LimitWindow::due(std::uint32_t limit, TimePoint now) {
  if (empty_) return false;
  const auto age = now - begun_;
  const auto calls = sum_.worked + dropped();
  if (calls < fewest_calls) return age > too_long && (dropped() > 0 || calls >= limit);
  if (age >= very_long) return true;
  return age >= shortest && calls >= limit && (age >= long_enough || precise(now));
}

/// Calls so slow that few of them end keep step with each other: a queue delays some, and others not at all.
/// Windows of about ten seconds stay with one kind of average, because two kinds cannot be compared.
bool LimitWindow::averages_all() const { return sum_.time >= (took_long_ ? very_long / 2 : very_long); }

void LimitWindow::measure(TimePoint now) {
  sum_.time = now - begun_;
  const auto quicker = averages_all() ? latencies_.quicker(1) : latencies_.quicker();
  sum_.latency = sum_.worked == 0 ? 0 : std::max(quicker.average, no_time);
  sum_.variation = std::max(sum_.worked < fewest_calls ? few_calls_vary : 0, quicker.variation);
  if (sum_.worked == 0) return;
  const double slow = seconds_ - sum_.latency * static_cast<double>(sum_.worked);
  sum_.slow = slow > 0 ? slow / (seconds_ + dropped_seconds_) : 0;
  sum_.noise = 2 * sum_.variation * sum_.latency / std::sqrt(static_cast<double>(sum_.worked));
}

bool LimitWindow::precise(TimePoint now) {
  if (dropped() > 0) return true;
  measure(now);
  return sum_.noise <= sum_.latency * wanted_noise;
}

LimitWindow::Sum LimitWindow::close(TimePoint now) {
  measure(now);
  took_long_ = averages_all();
  if (dropped() == 0)
    sum_.throttled = sum_.timeouts = sum_.unavailable = 0, sum_.longest_timeout = 0;
  else if (dropped_seconds_ > 0)
    sum_.dropped_share = dropped_seconds_ / std::max(dropped_seconds_ + seconds_, running_seconds_);
  const Sum sum = sum_;
  begin(now);
  return sum;
}

void LimitWindow::settle(Duration time, TimePoint now) {
  empty_ = true;
  settled_ = std::max<TimePoint>(settled_, now + time);
}

}  // namespace laneway::delivery
