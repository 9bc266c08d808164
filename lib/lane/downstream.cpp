#include "lane/downstream.h"

#include "telemetry/log.h"

namespace laneway::lane {

namespace {

constexpr const char* too_slow = "calls take longer than breaker.slow";

}  // namespace

void Downstream::change(delivery::BreakerRules rules, Duration slow, TimePoint now) {
  MutexLock lock(mutex_);
  const auto before = breaker_.state();
  breaker_.change(rules, now);
  watches_.store(rules.failures > 0, std::memory_order_relaxed);
  slow_.store(slow, std::memory_order_relaxed);
  log_change(before, "its rules were changed");
}

delivery::Breaker::State Downstream::state() const {
  MutexLock lock(mutex_);
  return breaker_.state();
}

std::string Downstream::last_failure() const {
  MutexLock lock(mutex_);
  return last_failure_;
}

std::uint32_t Downstream::room(const void* who, TimePoint now) {
  if (closed()) return delivery::Breaker::unlimited;
  MutexLock lock(mutex_);
  turn_.ask(who, now);
  const auto room = breaker_.room(now);
  return turn_.first(now) == who ? room : 0;
}

void Downstream::leave(const void* who) {
  MutexLock lock(mutex_);
  turn_.leave(who);
}

bool Downstream::admit(const void* who, std::uint32_t calls, TimePoint now) {
  if (closed()) return true;
  MutexLock lock(mutex_);
  if (calls > breaker_.room(now)) return false;
  turn_.leave(who);
  const auto before = breaker_.state();
  breaker_.begin(now, calls);
  log_change(before, "asking again");
  return true;
}

void Downstream::answered(std::uint32_t calls, Duration took, TimePoint now) {
  const bool slow = is_slow(took);
  if (closed() && !slow) {
    successes_.fetch_add(calls, std::memory_order_relaxed);
    return;
  }
  MutexLock lock(mutex_);
  if (slow) {
    breaker_.ended(calls - 1);
    return fail(too_slow, {}, now);
  }
  const auto before = breaker_.state();
  breaker_.succeeded(now, calls);
  log_change(before, "it answers again");
}

void Downstream::timed_out(std::uint32_t calls, Duration took, TimePoint now) {
  if (!is_slow(took)) return ended(calls);
  MutexLock lock(mutex_);
  breaker_.ended(calls - 1);
  fail(too_slow, {}, now);
}

bool Downstream::is_slow(Duration took) const {
  const auto limit = slow_.load(std::memory_order_relaxed);
  return limit > Duration::zero() && took > limit;
}

void Downstream::failed(const std::string& reason, std::optional<Duration> after, TimePoint now) {
  MutexLock lock(mutex_);
  fail(reason, after, now);
}

void Downstream::fail(const std::string& reason, std::optional<Duration> after, TimePoint now) {
  const auto before = breaker_.state();
  breaker_.succeeded(now, successes_.exchange(0, std::memory_order_relaxed));
  breaker_.failed(now, after);
  last_failure_ = reason;
  log_change(before, reason);
}

void Downstream::ended(std::uint32_t calls) {
  if (closed()) return;
  MutexLock lock(mutex_);
  breaker_.ended(calls);
}

void Downstream::log_change(delivery::Breaker::State before, const std::string& reason) {
  const auto state = breaker_.state();
  if (state == before) return;
  const bool was_closed = before == delivery::Breaker::State::closed;
  const bool is_closed = state == delivery::Breaker::State::closed;
  closed_.store(is_closed, std::memory_order_relaxed);
  // Probes come and go; people want to know when it began and when it was over.
  const auto level = was_closed  ? telemetry::Level::warn
                     : is_closed ? telemetry::Level::info
                                 : telemetry::Level::debug;
  telemetry::log(level, std::string("breaker ") + delivery::name_of(state),
                 {{"downstream", name_}, {"error", reason}});
}

}  // namespace laneway::lane
