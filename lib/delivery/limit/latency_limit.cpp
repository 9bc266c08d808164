#include "delivery/limit/latency_limit.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace laneway::delivery {
namespace {

constexpr Duration probe_interval = seconds(30);
constexpr int probe_calls = 60;         // an interval has at least so many calls, one after the other
constexpr double same = 0.85;           // least share that makes two latencies about the same
constexpr double much_lower = 0.7;      // share of a limit at which a queue would be clearly shorter
constexpr double near = 1.05;           // of the base
constexpr double precise_enough = 0.2;  // noise of a window that lowers the base, in shares of its latency
constexpr double precise_base = 0.05;   // noise of the base, in shares of it, with which it is kept
constexpr double wanted_queue = 1.15;   // limit after a probe, in shares of the limit without a queue

}  // namespace

bool LatencyLimit::about_same(const Point& one, const Point& other) {
  const double difference = std::abs(one.latency - other.latency);
  return difference < (1 - same) * std::max(one.latency, other.latency) ||
         difference < std::hypot(one.noise, other.noise);
}

void LatencyLimit::lowered() {
  before_lowering_ = {};
  before_probe_ = {};
  steps_ = CarefulSteps{};
}

NextLimit LatencyLimit::next(const LimitWindow::Sum& window, std::uint32_t limit, const LimitBounds& bounds,
                             TimePoint now) {
  if (window.worked == 0) return {limit};
  variation_ = window.variation;
  const auto before = std::exchange(last_, {limit, window.latency, window.noise});
  if (base_ == 0) confirm(window, now);
  if (before_probe_.limit > 0) return probe(window, limit, bounds, now);
  learn(window, limit, bounds, now);
  if (!uses(window, limit)) return {limit};
  // A window in which the downstream changes shows nothing about this limit. The first window after a change
  // of the limit begins when the change has had its effect.
  const bool stable = before.limit != limit || about_same(last_, before);
  const auto interval = std::max(probe_interval, from_seconds(last_.latency) * probe_calls);
  if (stable && limit > bounds.min && now - confirmed_ >= interval) {
    before_probe_ = last_;
    before_step_ = last_;
    return {std::max(bounds.min, halved(limit, window)), LimitReason::probe};
  }
  const double raised = window.latency - std::hypot(window.noise, base_noise());
  const auto next = rule_(limit, base_, std::max(raised, base_ / 2));
  if (next > limit) return {steps_ ? std::min(next, limit + steps_->next()) : next, LimitReason::success};
  if (next == limit) return {limit};
  if (before_lowering_.limit == 0 && stable) before_lowering_ = last_;
  return {next, LimitReason::latency, std::min(base_, before.latency > 0 ? before.latency : base_)};
}

void LatencyLimit::learn(const LimitWindow::Sum& window, std::uint32_t limit, const LimitBounds& bounds,
                         TimePoint now) {
  const double chance = window.noise + base_noise();
  const double difference = window.latency - base_;
  const bool precise = window.noise <= precise_enough * window.latency;
  if (difference < -chance && precise) {
    confirm(window, now);
  } else if (std::abs(difference) <= chance && base_noise() > precise_base * base_) {
    confirm(window, now);
  }
  if (window.latency <= base_ * near) {
    confirmed_ = now;
    before_lowering_ = {};
  } else if (limit <= bounds.min && difference > chance) {
    confirm(window, now);
  } else if (before_lowering_.limit > 0) {
    const auto was = before_lowering_;
    if (limit > static_cast<std::uint32_t>(was.limit * much_lower)) return;
    if (about_same(last_, was)) confirm(window, now);
    before_lowering_ = {};
  }
}

NextLimit LatencyLimit::probe(const LimitWindow::Sum& window, std::uint32_t limit, const LimitBounds& bounds,
                              TimePoint now) {
  const auto former = std::exchange(before_step_, last_);
  const bool over = limit <= bounds.min || about_same(last_, former) ||
                    (window.latency <= base_ * near && window.latency >= base_ / near);
  if (!over) return {std::max(bounds.min, halved(limit, window)), LimitReason::probe};
  confirm(window, now);
  const auto was = std::exchange(before_probe_, {});
  // The limit that the latency before the probe allows, with a queue of the wanted length.
  const double share = std::min(1.0, wanted_queue * base_ / was.latency);
  return {std::max(limit, static_cast<std::uint32_t>(was.limit * share)), LimitReason::probe};
}

double LatencyLimit::base_noise() const {
  return base_calls_ == 0 ? 0 : 2 * variation_ * base_ / std::sqrt(base_calls_);
}

/// The window has no queue. Within what chance explains, the base becomes more precise with each window.
void LatencyLimit::confirm(const LimitWindow::Sum& window, TimePoint now) {
  const auto calls = static_cast<double>(window.worked);
  const double difference = window.latency - base_;
  const bool chance = std::abs(difference) <= window.noise + base_noise();
  if (base_ > 0 && chance) {
    base_calls_ += calls;
    base_ += difference * calls / base_calls_;
  } else {
    base_ = window.latency;
    base_calls_ = calls;
  }
  confirmed_ = now;
  before_lowering_ = {};
}

}  // namespace laneway::delivery
