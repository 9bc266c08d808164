#include "lane/shared/adaptive_limit.h"

#include <algorithm>

namespace laneway::lane {
namespace {

delivery::LimitKind kind_of(config::AdaptiveAlgorithm algorithm) {
  if (algorithm == config::AdaptiveAlgorithm::aimd) return delivery::LimitKind::aimd;
  return algorithm == config::AdaptiveAlgorithm::gradient ? delivery::LimitKind::gradient
                                                          : delivery::LimitKind::vegas;
}

delivery::LimitBounds bounds_of(const config::AdaptiveLimitSettings& settings, std::uint32_t max) {
  return {std::min(settings.min, max), max};
}

}  // namespace

AdaptiveLimit::AdaptiveLimit(const config::AdaptiveLimitSettings& settings, std::uint32_t max)
    : permits_(std::max(std::min(settings.min, max), 1U)),
      limit_(kind_of(settings.algorithm), bounds_of(settings, max)) {}

void AdaptiveLimit::ended(delivery::EndedCalls calls, TimePoint now) {
  calls.in_flight = std::max(permits_.in_use(), 1U);
  {
    MutexLock lock(mutex_);
    out_ = false;
    apply(limit_.ended(calls, now), now);
  }
  follow();
}

void AdaptiveLimit::ended_in_outage(TimePoint now) {
  {
    MutexLock lock(mutex_);
    if (out_) return;
    out_ = true;
    apply(limit_.breaker_opened(now), now);
  }
  follow();
}

bool AdaptiveLimit::can_fall() const {
  MutexLock lock(mutex_);
  return limit_.limit() > limit_.bounds().min;
}

void AdaptiveLimit::change(const config::AdaptiveLimitSettings& settings, std::uint32_t max, TimePoint now) {
  {
    MutexLock lock(mutex_);
    apply(limit_.change(bounds_of(settings, max), now), now);
  }
  follow();
}

/// Probes lower the limit for a moment only, so people need not learn of them.
void AdaptiveLimit::apply(const std::optional<delivery::LimitChange>& change, TimePoint now) {
  if (!change) return;
  ++report_.changes[static_cast<std::size_t>(change->reason)];
  if (change->reason == delivery::LimitReason::probe) return;
  report_.why = change->words;
  report_.from = change->from;
  report_.to = change->to;
  report_.moved = now;
}

/// The newest value wins, also if two threads come here at once.
void AdaptiveLimit::follow() {
  for (;;) {
    std::uint32_t wanted = 0;
    {
      MutexLock lock(mutex_);
      wanted = limit_.limit();
    }
    if (permits_.limit() == wanted) return;
    permits_.set_limit(wanted);
  }
}

AdaptiveLimit::Report AdaptiveLimit::report() const {
  MutexLock lock(mutex_);
  auto report = report_;
  report.limit = limit_.limit();
  report.min = limit_.bounds().min;
  report.max = limit_.bounds().max;
  report.in_flight = permits_.in_use();
  return report;
}

}  // namespace laneway::lane
