#include "delivery/failure/breaker.h"

#include <algorithm>
#include <cmath>

namespace laneway::delivery {
namespace {

constexpr double chance = 1e-9;
constexpr std::size_t most_outages = 32;
constexpr std::size_t most_unclear_rows = 16;
constexpr std::uint32_t fewest_records = 60;  // with fewer, half of the records shows nothing
constexpr std::uint32_t nearly_all = CallWindow::few / 4 * 3;
constexpr std::uint32_t wide = 4 * 32;  // quarters: the load is nearly what it was before
constexpr std::uint32_t widest = 4 * 4096;
constexpr Duration fading = seconds(60);      // between two reductions, of a tenth each
constexpr std::uint32_t enough_in_vain = 2;   // probes
constexpr std::uint32_t many_in_vain = 8;     // calls in a row, if no probe was needed
constexpr Duration calm_enough = seconds(5);  // in an outage, first failures of records are closer together
/// With the second between two looks, less than the doubt in which Blame gives no record up.
constexpr Duration row_waits = milliseconds(1500);

/// How often something of this probability must happen in a row to be less likely than `chance`.
std::uint32_t beyond(double probability) {
  if (probability <= 0) return 1;
  return static_cast<std::uint32_t>(std::ceil(std::log(chance) / std::log(std::min(probability, 0.999))));
}

}  // namespace

void Breaker::change(BreakerRules rules, TimePoint now) {
  if (rules.failures == 0) {
    if (state_ != State::closed) close(now);
    clear_window();
    recovering_.scale(0);
  }
  if (rules_.failures == 0 && rules.failures > 0) attributes_since_ = now;
  if (rules.probe != rules_.probe) probe_at_ = std::min(probe_at_, now + rules.probe);
  window_.set_length(rules.window);
  rules_ = rules;
}

std::uint32_t Breaker::room(TimePoint now) const {
  if (state_ == State::closed) return unlimited;
  if (state_ == State::open) return now >= probe_at_ ? 1 : 0;
  const auto allowed = quarters_ / 4;
  if (in_flight_ < allowed) return allowed - in_flight_;
  return now - last_begun_ >= rules_.probe ? 1 : 0;  // running calls may hang
}

void Breaker::begin(TimePoint now, std::uint32_t calls) {
  if (state_ == State::closed) return;
  if (state_ == State::open) {
    state_ = State::half_open;
    quarters_ = 4;
    in_flight_ = 0;
    has_worked_ = false;
    half_open_since_ = calm_since_ = now;
    by_probe_ = true;
    clear_window();
  }
  in_flight_ += calls;
  last_begun_ = now;
}

void Breaker::ended(std::uint32_t calls) { in_flight_ -= std::min(in_flight_, calls); }

void Breaker::succeeded(TimePoint now, std::uint64_t calls) {
  if (calls == 0) return;
  ended(static_cast<std::uint32_t>(std::min<std::uint64_t>(calls, unlimited)));
  successes_ += calls;
  recovering_.add(calls, 0);
  if (state_ == State::open) return;  // the calls began before the breaker opened
  failing_.add(calls, window_.in_a_row());
  if (row_waits_since_) {
    unclear_rows_.push_back({window_.row_since(), now});
    if (unclear_rows_.size() > most_unclear_rows) unclear_rows_.pop_front();
    clear_window();
  }
  window_.succeeded(now, calls);
  if (state_ == State::closed) return;
  has_worked_ = true;
  in_vain_ = 0;
  quarters_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(quarters_ + 4 * calls, widest));
  if (quarters_ >= wide && window_.failures() * 2 < window_.records()) close(now);
}

void Breaker::failed(TimePoint now, const Failure& failure) {
  if (rules_.failures == 0) return;
  ended(1);
  in_vain_ = 0;
  if (state_ == State::open) {
    if (failure.after) probe_at_ = std::max(probe_at_, now + *failure.after);
    return;
  }
  const bool says_something = !failure.repeated && window_.failed(now, failure.record);
  if (state_ == State::half_open) {
    if (says_something) calm_since_ = now;
    if (says_something || !has_worked_) --quarters_;
    if (quarters_ < 4) open(now, failure.after);
    return;
  }
  if (says_something) judge(now, failure.beside, failure.after);
}

/// Opens the breaker if the failures show an outage.
void Breaker::judge(TimePoint now, std::uint32_t beside, std::optional<Duration> after) {
  const auto row = window_.in_a_row();
  const auto usual = std::max(failing_.bad(), recovering_.bad());
  const bool beyond_chance = row >= std::max(rules_.failures, beyond(usual));
  if (beyond_chance && !row_waits_since_) row_waits_since_ = now;
  const bool waits =
      beyond_chance && row <= beside && row < CallWindow::longest_row && now - *row_waits_since_ < row_waits;
  const bool row_counts = beyond_chance && !waits;
  const auto begun = onset(row_counts, waits ? row : 0);
  if (!begun) return;
  outages_.push_back({*begun});
  ++outages_seen_;
  if (outages_.size() > most_outages) outages_.pop_front();
  row_counts ? open(now, after) : open_half(now);
}

void Breaker::failed_as_expected(TimePoint began, TimePoint now) {
  if (rules_.failures == 0) return;
  ended(1);
  if (state_ != State::half_open || has_worked_ || began < half_open_since_) return;
  if (++in_vain_ >= (by_probe_ ? enough_in_vain : many_in_vain)) return acquit(now);
  --quarters_;
  if (quarters_ < 4) open(now, {});
}

/// Only records that are expected to fail are left to probe with. Records that failed in this outage may show
/// the next one.
void Breaker::acquit(TimePoint now) {
  in_vain_ = 0;
  ++outages_seen_;
  close(now);
}

void Breaker::look(TimePoint now, std::uint32_t running) {
  if (state_ == State::closed && row_waits_since_) judge(now, running, {});
  if (state_ == State::half_open && has_worked_ && now - calm_since_ >= calm_enough) close(now);
  if (now - faded_at_ < fading) return;
  failing_.scale(0.9);
  recovering_.scale(0.9);
  faded_at_ = now;
}

/// When the outage began that the failures show; nullopt if there is no outage. `row_counts`: the present row
/// shows one. `unsure`: so many failures, those of a row that waits, do not count yet.
std::optional<TimePoint> Breaker::onset(bool row_counts, std::uint32_t unsure) const {
  const auto failures = window_.failures() - std::min(unsure, window_.failures());
  const auto records = window_.records() - std::min(unsure, window_.failures());
  const auto lately = window_.lately() - std::min(unsure, window_.lately());
  if (records >= fewest_records && failures >= rules_.failures && failures * 2 >= records)
    return row_counts ? std::min(window_.row_since(), window_.failing_since()) : window_.failing_since();
  if (row_counts) return window_.row_since();
  if (lately >= std::max(rules_.failures, nearly_all)) return window_.lately_since();
  return {};
}

void Breaker::clear_window() {
  window_.clear();
  row_waits_since_.reset();
}

void Breaker::recovered(std::uint32_t failures) {
  if (rules_.failures > 0) recovering_.add(0, failures);
}

std::uint32_t Breaker::beyond_chance() const { return beyond(recovering_.bad()); }

bool Breaker::is_in(const std::deque<Outage>& all, TimePoint at) {
  return std::any_of(all.begin(), all.end(), [&](const Outage& outage) {
    return outage.begun <= at && (!outage.ended || at <= *outage.ended);
  });
}

bool Breaker::was_out(TimePoint at) const {
  if (at < attributes_since_) return true;
  if (outages_.size() == most_outages && at < outages_.front().begun) return true;
  return is_in(outages_, at);
}

bool Breaker::in_unclear_row(TimePoint at) const { return is_in(unclear_rows_, at); }

void Breaker::open(TimePoint now, std::optional<Duration> after) {
  state_ = State::open;
  probe_at_ = now + std::max(rules_.probe, after.value_or(Duration::zero()));
}

/// Calls work and fail by turns: do not wait for the time of a probe, which fails as often as not.
void Breaker::open_half(TimePoint now) {
  state_ = State::half_open;
  quarters_ = wide / 2;
  in_flight_ = 0;
  last_begun_ = calm_since_ = half_open_since_ = now;
  by_probe_ = has_worked_ = false;
  clear_window();
}

void Breaker::close(TimePoint now) {
  state_ = State::closed;
  outages_.back().ended = now;
  clear_window();
}

}  // namespace laneway::delivery
