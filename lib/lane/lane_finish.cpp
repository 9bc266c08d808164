// What came back from the workers: the ledger is marked, failed records wait for their next attempt, keys go
// on.
#include <algorithm>

#include "lane/lane.h"
#include "telemetry/log.h"
#include "tracing/record_trace.h"

namespace laneway::lane {
namespace {

/// Of a reason that waits with its record; a dead letter carries it.
constexpr std::size_t longest_reason = 1000;

/// What became of an attempt, for the log.
const char* event_of(handler::Route before, const handler::Item& item, bool again) {
  using handler::Route;
  if (item.route() == Route::work) return "record failed, will be retried";
  if (before == Route::dead_letter) return "dead letter not written, will be tried again";
  if (before == Route::retry_topic)
    return again ? "record not written to its retry topic, will be tried again"
                 : "record not taken by its retry topic, goes to the dead-letter topic";
  return "record failed, goes to its retry topic";
}

}  // namespace

void Lane::collect(TimePoint now) {
  execution_.collect(finished_);
  if (finished_.empty()) return;
  if (ordered_) slice_ = slice();
  for (auto& finished : finished_) apply(finished, now);
}

void Lane::apply(handler::Finished& finished, TimePoint now) {
  const auto& range = finished.claim.range;
  auto& batch = static_cast<handler::RecordBatch&>(*range.batch);
  if (batch.route == handler::Route::dead_letter) report_letters(finished, batch, now);
  if (current(batch)) {
    const bool all_done = finished.done == range.count();
    if (all_done && (!ordered_ || batch.sequential))
      apply_done(batch, range.begin, range.end);
    else
      apply_each(finished, batch, now);
  }
  batch.unfinished -= range.count();
  if (batch.unfinished > 0) return;
  if (batch.route == handler::Route::work) gate_.survived(batch.size);
  recycle(&batch);
}

void Lane::apply_done(handler::RecordBatch& batch, std::uint32_t begin, std::uint32_t end) {
  completed_since_ += end - begin;
  if (batch.consecutive)
    ledger_.complete(batch.items[begin].sequence, end - begin);
  else
    for (auto i = begin; i < end; ++i) complete(batch.items[i]);
  if (batch.sequential) release_key(batch.items[begin].key);
}

/// A record that works may have failed before: the downstream fails now and then.
void Lane::complete(const handler::Item& item) {
  ledger_.complete(item.sequence);
  if (!item.failures || item.route() != handler::Route::work) return;
  const auto failures = item.failures->blame.counted();
  const auto shared = item.failures->shared;  // those calls may have failed over a poison record
  if (failures > shared) context_.downstream->recovered(failures - shared);
}

void Lane::apply_each(handler::Finished& finished, handler::RecordBatch& batch, TimePoint now) {
  const auto& range = finished.claim.range;
  // Each one's share: only what they took together is known.
  const auto attempts = finished.done + finished.failures.size();
  const auto took = finished.busy / static_cast<std::int64_t>(std::max<std::size_t>(attempts, 1));
  auto failure = finished.failures.begin();
  std::vector<handler::Item> waiting;
  for (auto i = range.begin; i < range.end; ++i) {
    auto& item = batch.items[i];
    if (item.state != handler::ItemState::done) batch.unfinished_bytes += item.record.size();
    if (item.state == handler::ItemState::done) {
      ++completed_since_;
      complete(item);
      if (!batch.sequential && item.key != 0) release_key(item.key);
    } else if (item.state == handler::ItemState::failed) {
      while (failure != finished.failures.end() && failure->index != i) ++failure;
      fail(std::move(item), failure->outcome, took, now);
    } else {
      waiting.push_back(std::move(item));
    }
  }
  if (gives_back_) waiting.clear();
  if (batch.sequential) {
    const auto key = batch.items[range.begin].key;
    wait_behind_key(key, waiting);
    // Else the failed record of the key comes first, after its delay.
    if (finished.failures.empty()) release_key(key);
  } else if (!waiting.empty()) {
    run_again(std::move(waiting), false);
  }
}

/// First of those that wait for their key.
void Lane::wait_behind_key(std::uint64_t key, std::span<handler::Item> items) {
  for (const auto& item : items) bytes_ += memory_of(item);
  keys_.give_back(key, items);
}

void Lane::fail(handler::Item item, const handler::Outcome& outcome, Duration took, TimePoint now) {
  if (state_.state() == State::draining || cancelled_) {
    if (cancelled_) log_abandoned(item.offset(), item.attempt, &item.record);
    return;  // given back: it was not completed, so it will be delivered again
  }
  if (skip_if_wished(item, outcome)) return;
  if (outcome.cause == handler::Cause::withheld) return withhold(std::move(item));
  remember_error(item, outcome);
  const auto before = item.route();
  if (before == handler::Route::work) note_failure(item, outcome);
  const auto number = item.attempt;
  const auto delay = next_step(item, outcome, took, now);
  const bool given_up = before == handler::Route::work && item.route() == handler::Route::dead_letter;
  if (!given_up) report_failure(event_of(before, item, delay.has_value()), item, number, outcome, now);
  if (delay)
    wait(std::move(item), now + *delay);
  else
    run_alone(std::move(item));
}

void Lane::note_failure(handler::Item& item, const handler::Outcome& outcome) const {
  if (!item.failures) {
    item.failures = std::make_unique<handler::FailureHistory>();
    item.failures->stage = stage_;
    item.failures->done_before = ledger_.done();
  }
  auto& failures = *item.failures;
  failures.last_ms = wall_clock_ms();
  if (failures.first_ms == 0) failures.first_ms = failures.last_ms;
  failures.reason = outcome.reason.substr(0, longest_reason);
  failures.unavailable = outcome.verdict == handler::Verdict::unavailable;
  if (outcome.same_call) ++failures.shared;
  failures.throttled = outcome.cause == handler::Cause::throttled ? failures.throttled + 1 : 0;
}

void Lane::remember_error(const handler::Item& item, const handler::Outcome& outcome) {
  if (!last_error_) last_error_.emplace();
  last_error_->offset = item.offset();
  last_error_->attempt = item.attempt;
  last_error_->at_ms = wall_clock_ms();
  last_error_->error.assign(outcome.reason, 0, longest_reason);
}

void Lane::give_up(handler::Item& item, handler::Route route, delivery::DeadLetterReason why) {
  item.failures->route = route;
  item.failures->given_up = why;
}

/// The delay before the next attempt; nothing: it goes to the topic of its new route at once.
std::optional<Duration> Lane::next_step(handler::Item& item, const handler::Outcome& outcome, Duration took,
                                        TimePoint now) {
  auto& failures = *item.failures;
  if (failures.route == handler::Route::retry_topic && outcome.verdict == handler::Verdict::reject) {
    failures.route = handler::Route::dead_letter;  // the retry topic will never take it
    return std::nullopt;
  }
  if (failures.route != handler::Route::work)
    return rules_.delays.delay(++failures.forward_attempts, random(), outcome.after);
  // How often such records run is up to the pace of all lanes (lane/shared/rate_limiter.h). One that comes
  // too often for as long as it is tried must not keep that pace low.
  if (outcome.cause == handler::Cause::throttled)
    return rules_.delays.delay(failures.throttled, random(), outcome.after);
  if (outcome.verdict != handler::Verdict::unavailable &&
      context_.ledger.policy == config::LedgerPolicy::dead_letter && rules_.dead_letters &&
      item.sequence == oldest_seen_) {
    if (const auto why = outlived(now)) {
      give_up(item, handler::Route::dead_letter, *why);
      return std::nullopt;
    }
  }
  if (outcome.verdict == handler::Verdict::reject) return after_reject(item, outcome, now);
  // The loop may have read its clock before the worker told the downstream of the failure.
  const delivery::FailedAttempt attempt{.record = execution_.id_of(item),
                                        .ended = std::max(now, SteadyClock::now()),
                                        .took = took,
                                        .random = random(),
                                        .unavailable = failures.unavailable,
                                        .after = outcome.after};
  return follow(item, context_.downstream->judge(failures.blame, attempt, rules_));
}

std::optional<Duration> Lane::after_reject(handler::Item& item, const handler::Outcome& outcome,
                                           TimePoint now) {
  const auto step = rules_.after_reject(item.attempt, random());
  ++item.attempt;
  if (!step.given_up) return step.delay;
  if (!context_.downstream->admits_rejection(now))
    return rules_.delays.delay(item.attempt, random(), outcome.after);
  --item.attempt;
  give_up(item, route_after(*step.given_up), *step.given_up);
  return std::nullopt;
}

/// As delivery::Blame has decided.
std::optional<Duration> Lane::follow(handler::Item& item, const delivery::Blame::Step& step) {
  auto& failures = *item.failures;
  failures.suspended = step.suspended;
  const auto counted = failures.blame.counted();
  if (step.given_up) {
    item.attempt = failures.attempts_before + std::max(counted, 1U);
    give_up(item, route_after(*step.given_up), *step.given_up);
    return std::nullopt;
  }
  item.attempt = failures.attempts_before + counted + (step.suspended ? 0 : 1);
  return step.delay;
}

/// Whether a record that was suspended may go on now, to another attempt or to the topic of its new route.
bool Lane::reconsidered(handler::Item& item, TimePoint now) {
  const auto delay =
      follow(item, context_.downstream->reconsider(item.failures->blame, rules_, now, random()));
  if (!delay || !item.failures->suspended) return true;
  wait(std::move(item), now + *delay);
  return false;
}

handler::Route Lane::route_after(delivery::DeadLetterReason given_up) const {
  const bool later =
      given_up != delivery::DeadLetterReason::rejected && stage_ != nullptr && !stage_->next.empty();
  return later ? handler::Route::retry_topic : handler::Route::dead_letter;
}

void Lane::wait(handler::Item item, TimePoint due) {
  item.record.detach();  // a long wait must not pin the fetch buffer
  item.state = handler::ItemState::waiting;
  bytes_ += memory_of(item);
  waiting_.push(due, std::move(item));
}

/// The breaker did not let it begin.
void Lane::withhold(handler::Item item) {
  item.record.detach();
  item.state = handler::ItemState::waiting;
  bytes_ += memory_of(item);
  waiting_.withhold(std::move(item));
}

double Lane::random() {
  return static_cast<double>(random_() - std::minstd_rand::min()) /
         (static_cast<double>(std::minstd_rand::max()) + 1.0);
}

/// One line of a lane in five seconds, with the number of failures that it stands for.
void Lane::report_failure(const char* event, const handler::Item& item, std::uint32_t attempt,
                          const handler::Outcome& outcome, TimePoint now) {
  ++failures_unreported_;
  if (now < next_failure_report_) return;
  next_failure_report_ = now + seconds(5);
  telemetry::warn(event, {{"topic", id_.partition.topic},
                          {"partition", id_.partition.partition},
                          {"offset", item.offset()},
                          {"epoch", id_.epoch},
                          {"attempt", attempt},
                          tracing::TraceField(&item.record),
                          {"outcome", outcome_name(outcome)},
                          {"failures", failures_unreported_},
                          {"error", outcome.reason}});
  failures_unreported_ = 0;
}

/// How many records of a key a worker gets at a time: what takes a moment by the measured time, so that they
/// are reported, given back and shared out soon, and handing them over costs little beside. A handler that
/// works on many at once gets them.
std::size_t Lane::slice() const {
  constexpr Duration moment = milliseconds(4);
  const auto service = pool_->snapshot().service_time;
  const std::int64_t least = context_.handler->fills_tasks() ? context_.handler->most_per_task() : 1;
  const std::int64_t timely = service > Duration::zero() ? moment / service : 1;
  return static_cast<std::size_t>(std::clamp<std::int64_t>(std::max(least, timely), 1, run_limit()));
}

void Lane::release_key(std::uint64_t key) {
  std::vector<handler::Item> next;
  const auto taken = keys_.release(key, next, slice_);
  if (taken == 0) return;
  let_go(next);
  run_again(std::move(next), true);
}

void Lane::run_again(std::vector<handler::Item> items, bool sequential) {
  auto batch = new_batch();
  batch->sequential = sequential && items.size() > 1;
  batch->consecutive = false;
  batch->route = items.front().route();
  for (auto& item : items) {
    batch->bytes += memory_of(item);
    batch->items.push_back(std::move(item));
  }
  enqueue(std::move(batch));
}

void Lane::run_alone(handler::Item item) {
  item.state = handler::ItemState::waiting;
  std::vector<handler::Item> one;
  one.push_back(std::move(item));
  run_again(std::move(one), false);
}

/// At the pace of a downstream, failed records and new ones take turns. Else a few records that always come
/// too often would have all the calls of a slow pace, and nothing could show that others work.
bool Lane::leaves_turn_to_new() const {
  const bool takes = state_.state() == State::running || state_.state() == State::held;
  return rate_.limited_by_pace() && new_ones_turn_ && takes && not_empty_ &&
         !state_.held_by_other_than(Hold::rate_limited);
}

/// An outage may have shown only after the record's attempt was counted.
void Lane::give_back_attempts(handler::Item& item) {
  if (!item.failures) return;
  auto& blame = item.failures->blame;
  const auto counted = blame.counted();
  if (counted == 0) return;
  context_.downstream->give_back(blame);
  item.attempt -= counted - blame.counted();
}

void Lane::submit_due_retries(TimePoint now) {
  if (!retry_due(now)) return;
  // What the breaker would withhold would only come back.
  auto room = context_.downstream->room(&execution_, now);
  const bool probing = !context_.downstream->closed();
  bool any = false;
  while (room > 0 && retry_due(now) && !leaves_turn_to_new() && !rate_.room(now).none()) {
    auto item = waiting_.pop(now, probing);
    if (!item) break;
    new_ones_turn_ = true;
    bytes_ -= std::min(bytes_, memory_of(*item));
    if (item->failures && item->failures->suspended && !reconsidered(*item, now)) continue;
    if (item->route() == handler::Route::work) give_back_attempts(*item);
    rate_.charge(1, item->record.size(), now);
    run_alone(std::move(*item));
    any = true;
    --room;
  }
  if (any) submit(now);
}

}  // namespace laneway::lane
