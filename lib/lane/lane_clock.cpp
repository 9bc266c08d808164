// What a lane does because time passes: deadlines, due retries, pauses, a source that has gone quiet, gauges.
#include <algorithm>

#include "lane/lane.h"
#include "telemetry/log.h"

namespace laneway::lane {
namespace {

constexpr Duration busy_tick = milliseconds(50);
constexpr Duration idle_tick = seconds(1);
constexpr Duration source_report = seconds(30);
constexpr Duration dry_limit = milliseconds(20);
constexpr Duration short_wait = seconds(10);

}  // namespace

TimePoint Lane::tick(TimePoint now) {
  if (state_.state() == State::revoked) return now + idle_tick;
  completions_.collect(now);
  workload_.tick(now);
  submit_due_retries(now);
  tick_careful(now);
  submit(now);
  tick_position(now);
  tick_pause(now);
  tick_starving(now);
  tick_source_error(now);
  tick_oldest(now);
  attempts_.log().more_letters(now);
  publish(now);
  const bool idle = workload_.idle() && !dry_since_ && !judge_.in_doubt();
  TimePoint next = std::min(now + (idle ? idle_tick : busy_tick), tick_silence(now));
  if (const auto due = attempts_.waiting().next_due()) next = std::min(next, next_retry(*due, now));
  if (dry_since_ && was_full_) next = std::min(next, now + dry_limit);
  return std::min(next, tick_take(now));
}

/// When the record that is due then can be submitted, as far as is known.
TimePoint Lane::next_retry(TimePoint due, TimePoint now) {
  due = std::max(due, now + (breaker_holds() ? busy_tick : Duration(milliseconds(1))));
  return rate_.waits(now) ? std::max(due, rate_.ready_at(now)) : due;
}

/// A hold that ended by the clock, or by another lane, has left records in the buffer that nobody signals:
/// the client does so only when a buffer was empty.
TimePoint Lane::tick_take(TimePoint now) {
  if (state_.has(Hold::rate_limited)) update_holds(now);
  if (not_empty_ && state_.may_take() && work(now)) return now;
  return state_.has(Hold::rate_limited) ? std::max(rate_.ready_at(now), now + milliseconds(1))
                                        : TimePoint::max();
}

/// A pause for less would only throw away what has been fetched, every time.
bool Lane::waits_long_for_rate(TimePoint now) {
  return state_.has(Hold::rate_limited) && rate_.ready_at(now) - now >= short_wait;
}

void Lane::tick_pause(TimePoint now) {
  const bool rate_is_reason = waits_long_for_rate(now);
  const bool has_reason = rate_is_reason || state_.held_by_other_than(Hold::rate_limited);
  if (state_.pause_due(now) && !state_.has(Hold::position) && has_reason) {
    if (!state_.has(Hold::by_hand)) take_what_is_fetched(now);  // nothing more is wanted then
    if (state_.has(Hold::position)) return;
    source_->pause();
    state_.pause(now);
    show_state();
    id_.log("lane paused", ledger_.committable(), held_by());
    return;
  }
  if (state_.state() != State::paused) return;
  // Fetching starts again while enough is left to work on until the first record comes.
  const auto service = workload_.service_time();
  const auto left = service * static_cast<std::int64_t>(workload_.records() / context_.lanes.workers);
  const auto lead = 2 * (resume_latency_ + busy_tick);
  const bool soon = service > Duration::zero() && left <= lead;  // zero: nothing has been finished yet
  if (!state_.held_by_anything() || (!state_.held_lastingly() && !rate_is_reason && soon)) resume(now);
}

/// Pausing makes the client throw away what it has fetched, so the lane takes it first, as far as its bounds
/// allow.
void Lane::take_what_is_fetched(TimePoint now) {
  for (;;) {
    if (memory() >= context_.memory.lane_bytes || ledger_.window() >= context_.lanes.max_incomplete) return;
    if (delayed() && attempts_.waiting().size() >= context_.retry.max_waiting) return;
    if (state_.has(Hold::position)) return;
    if (take(now) == Take::empty) return;
  }
}

void Lane::resume(TimePoint now) {
  source_->resume(next_offset_);
  state_.resume(now);
  show_state();
  resumed_at_ = now;
  id_.log("lane resumed", ledger_.committable());
}

/// A client can sleep on a buffer that was full.
void Lane::tick_starving(TimePoint now) {
  if (!dry_since_ || !state_.may_take()) return;
  const auto high = source_->log_bounds().end;
  if (high < 0 || next_offset_ < 0 || next_offset_ >= high) {
    dry_since_.reset();
    return;
  }
  if (was_full_ && now - *dry_since_ >= dry_limit) {
    was_full_ = false;
    source_->wake();
  }
}

/// Where the client tells an error, or waits for an answer of ours, it may deliver nothing, and says why.
TimePoint Lane::tick_silence(TimePoint now) {
  if (source_ == nullptr) return TimePoint::max();
  const bool wants = state_.may_take() && source_error_.empty() && !context_.rebalancing;
  const auto next = silence_.tick(*source_, wants, next_offset_, now);
  stats_->silent_ns.set(silence_.silent().count());
  return next;
}

void Lane::on_source_error(TimePoint now) { fail_source(source_->last_error(), now); }

void Lane::fail_source(std::string why, TimePoint now) {
  if (source_error_.empty()) failing_since_ = now;
  source_error_ = std::move(why);
  next_source_report_ = now + source_report;
  telemetry::log_repeating(telemetry::Level::warn,
                           "partition error " + id_.partition.topic + ": " + source_error_, "partition error",
                           {{"topic", id_.partition.topic},
                            {"partition", id_.partition.partition},
                            {"offset", next_offset_},
                            {"error", source_error_}});
}

void Lane::on_source_answers() {
  if (source_error_.empty() || judge_.in_doubt() || (corrupt_at_ && !reads_again_)) return;
  corrupt_at_.reset();
  source_error_.clear();
  id_.log("partition answers again", ledger_.committable());
}

/// The client tells a refusal once, and the end of a partition once: the seek makes it tell again, so that a
/// partition without new records is known to be readable, too.
void Lane::tick_source_error(TimePoint now) {
  if (source_error_.empty() || now < next_source_report_) return;
  next_source_report_ = now + source_report;
  if (corrupt_at_) return read_corrupt_again(now);
  if (state_.may_take() && next_offset_ >= 0) source_->seek(next_offset_);
  fail_source(source_error_, now);
}

void Lane::publish(TimePoint now) {
  show_state();
  stats_->holds.set(state_.holds());
  stats_->pauses.set(state_.pauses());
  stats_->held_ns.set(state_.held(now).count());
  stats_->paused_ns.set(state_.paused(now).count());
  stats_->delivered_offset.set(delivered_);
  stats_->window.set(ledger_.window());
  stats_->waiting_retries.set(attempts_.waiting().size());
  stats_->record_bytes.set(memory());
  tick_log(now);
}

}  // namespace laneway::lane
