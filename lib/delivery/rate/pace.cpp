#include "delivery/rate/pace.h"

#include <algorithm>
#include <utility>

namespace laneway::delivery {
namespace {

constexpr double slower = 0.7;
constexpr double least_rate = 1;       // calls a second
constexpr double few = 0.05;           // share of the calls that work
constexpr double fewest = 3;           // in one to two seconds; fewer may be chance
constexpr double burst = 0.05;         // seconds: how late a caller that was kept waiting may ask
constexpr Duration step = seconds(1);  // between two changes of the rate in one direction
constexpr Duration least_length = milliseconds(1);
constexpr double small_step = 1.1;
constexpr double large_step = 1.3;
constexpr double blind_step = 2;
constexpr Duration calm = seconds(10);  // after this time the steps are large
constexpr Duration over = seconds(30);

}  // namespace

void Pace::Meter::turn(TimePoint now) {
  const auto length = now - since_;
  if (length < step) return;
  older_calls_ = std::exchange(calls_, 0);
  older_length_ = length;
  since_ = now;
}

void Pace::Meter::add(TimePoint now, std::uint64_t calls) {
  calls_ += static_cast<double>(calls);
  turn(now);
}

double Pace::Meter::per_second(TimePoint now) {
  turn(now);
  return (older_calls_ + calls_) / to_seconds(std::max(older_length_ + (now - since_), least_length));
}

void Pace::change_rate(TimePoint now, double rate) { calls_.change(now, rate, rate * burst); }

/// Whether such answers were recently so few that they show nothing about calls in general.
bool Pace::are_few(TimePoint now) {
  const double refused = refusals_.per_second(now);
  const double worked = successes_.per_second(now);
  return worked > 0 && (refused < few * worked || refusals_.calls() < fewest);
}

void Pace::start(TimePoint now) {
  limited_ = true;
  successes_.restart(now);
  refusals_.restart(now);
  change_rate(now, 0);
  throttled_at_ = raised_at_ = kept_waiting_at_ = slowed_at_ = now;
}

void Pace::throttled(TimePoint now, std::optional<Duration> after, bool again) {
  const bool is_first = !limited_;
  if (is_first) start(now);
  if (!again || successes_.per_second(now) == 0) refusals_.add(now, 1);
  if (is_first || are_few(now)) return;
  if (after) not_before_ = std::max(not_before_, now + *after);
  throttled_at_ = raised_at_ = kept_waiting_at_ = std::max(now, not_before_);
  // Without a rate, all calls would begin when the requested time is over.
  const bool waits_without_rate = after && !calls_.limited();
  // Answers to calls that began before the slow-down.
  if (now - slowed_at_ < step && !waits_without_rate) return;
  const double worked = successes_.per_second(now);
  const double rate = std::max(least_rate, slower * worked);
  blind_ = worked == 0;
  change_rate(now, calls_.limited() ? std::min(rate, calls_.rate()) : rate);
  calls_.take(now, std::max(0.0, calls_.available(now)));
  slowed_at_ = now;
}

void Pace::raise(TimePoint now) {
  if (now - kept_waiting_at_ >= over) limited_ = false;
  while (limited_ && calls_.limited() && now - raised_at_ >= step) {
    raised_at_ += step;
    const bool is_calm = raised_at_ - throttled_at_ > calm;
    change_rate(now, calls_.rate() * (is_calm ? large_step : blind_ ? blind_step : small_step));
  }
}

std::uint32_t Pace::room(TimePoint now) {
  if (limited_) raise(now);
  if (!limited_) return unlimited;
  const bool may = now >= not_before_;
  if (may && !calls_.limited()) return unlimited;
  const double there = may ? calls_.available(now) : 0;
  if (there >= 1) return static_cast<std::uint32_t>(there);
  kept_waiting_at_ = now;
  return 0;
}

TimePoint Pace::ready_at(TimePoint now, double calls) {
  if (limited_) raise(now);
  return limited_ ? std::max(not_before_, calls_.ready_at(now, calls)) : now;
}

void Pace::begin(TimePoint now, double calls) {
  // Calls that were admitted before the pace began are no debt.
  if (limited_) calls_.take(now, std::min(calls, std::max(0.0, calls_.available(now))));
}

}  // namespace laneway::delivery
