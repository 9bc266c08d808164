#include "delivery/breaker.h"

#include <algorithm>

namespace laneway::delivery {

const char* name_of(Breaker::State state) {
  switch (state) {
    case Breaker::State::closed:
      return "closed";
    case Breaker::State::half_open:
      return "half_open";
    case Breaker::State::open:
      return "open";
  }
  return "unknown";
}

void Breaker::change(BreakerRules rules, TimePoint now) {
  if (rules.failures == 0) close();
  if (rules.probe != rules_.probe) probe_at_ = std::min(probe_at_, now + rules.probe);
  rules_ = rules;
}

std::uint32_t Breaker::room(TimePoint now) const {
  switch (state_) {
    case State::closed:
      return unlimited;
    case State::open:
      return now >= probe_at_ ? 1 : 0;
    case State::half_open:
      break;
  }
  if (in_flight_ < allowed_) return allowed_ - in_flight_;
  return now - last_begun_ >= rules_.probe ? 1 : 0;  // what is at work may hang
}

void Breaker::begin(TimePoint now, std::uint32_t calls) {
  if (state_ == State::closed) return;
  if (state_ == State::open) {
    state_ = State::half_open;
    allowed_ = 1;
    in_flight_ = 0;
    successes_ = 0;
  }
  in_flight_ += calls;
  last_begun_ = now;
}

void Breaker::ended(std::uint32_t calls) { in_flight_ -= std::min(in_flight_, calls); }

void Breaker::succeeded(TimePoint now, std::uint32_t calls) {
  if (calls == 0) return;
  ended(calls);
  switch (state_) {
    case State::closed:
      in_a_row_ = 0;
      count(now, calls, 0);
      return;
    case State::open:
      return;  // begun before it opened
    case State::half_open:
      break;
  }
  if (++successes_ > ramp)
    close();
  else
    allowed_ *= 2;
}

void Breaker::failed(TimePoint now, std::optional<Duration> after) {
  ended(1);
  switch (state_) {
    case State::closed:
      break;
    case State::half_open:
      return open(now, after);
    case State::open:
      if (after) probe_at_ = std::max(probe_at_, now + *after);
      return;
  }
  if (rules_.failures == 0) return;
  ++in_a_row_;
  count(now, 1, 1);
  const auto failures = older_.failures + newer_.failures;
  const auto calls = older_.calls + newer_.calls;
  if (in_a_row_ >= rules_.failures || (failures >= rules_.failures && failures * 2 >= calls))
    open(now, after);
}

void Breaker::open(TimePoint now, std::optional<Duration> after) {
  state_ = State::open;
  probe_at_ = now + std::max(rules_.probe, after.value_or(Duration::zero()));
}

void Breaker::close() {
  state_ = State::closed;
  in_a_row_ = 0;
  older_ = newer_ = {};
}

void Breaker::count(TimePoint now, std::uint32_t calls, std::uint32_t failures) {
  const auto half = rules_.window / 2;
  if (now - newer_since_ >= half) {
    older_ = now - newer_since_ < 2 * half ? newer_ : Half{};
    newer_ = {};
    newer_since_ = now;
  }
  newer_.calls += calls;
  newer_.failures += failures;
}

}  // namespace laneway::delivery
