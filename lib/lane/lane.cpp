#include "lane/lane.h"

#include <algorithm>

#include "base/utc_time.h"
#include "telemetry/log.h"

namespace laneway::lane {
namespace {

constexpr Duration busy_tick = milliseconds(50);
constexpr Duration idle_tick = seconds(1);

}  // namespace

Lane::Lane(const LaneContext& context, const StoredCommit& start, std::uint64_t epoch,
           std::function<void()> on_ready)
    : Lane(own_start(context, start), context, epoch, on_ready) {}

Lane::Lane(const StoredCommit& start, const LaneContext& context, std::uint64_t epoch,
           const std::function<void()>& on_ready)
    : context_(context),
      id_{start.partition, epoch},
      retry_step_(context.retry_steps == nullptr ? nullptr : context.retry_steps->find(id_.partition.topic)),
      delayed_(retry_step_ != nullptr && retry_step_->delayed()),
      stats_(std::make_unique<LaneStats>()),
      state_(context.lanes.pause_after),
      ledger_(ledger_of(start)),
      suspects_(start.suspects),
      oldest_(
          {context.lanes, context.ledger, *context.stages.front().downstream, id_, ledger_, state_, *stats_},
          delayed_),
      gate_(context, id_, ledger_, start),
      commits_(context, start, ledger_, suspects_, gate_, *stats_),
      rate_(context.rate, context.lanes.rate),
      errors_(id_),
      position_(id_, start.offset, ledger_, errors_, *stats_),
      silence_(context, id_.partition),
      prefetch_(context.memory.fetch),
      stages_({context, id_, ledger_, oldest_, gate_, retry_step_, *stats_}, on_ready),
      pause_(state_, rate_),
      intake_(context,
              {ledger_, position_, stages_, prefetch_, pause_, silence_, suspects_, errors_, *stats_},
              delayed_),
      holds_({context.lanes, context.memory, state_, ledger_, gate_, position_, rate_, *stats_}) {
  stats_->delivered_offset.set(-1);
  stats_->lag.set(-1);
}

void Lane::start(std::unique_ptr<PartitionSource> source, TimePoint now) {
  source_ = std::move(source);
  if (gate_.careful()) gate_.warn_careful();
  follow_suspensions(now);
  silence_.start(position_.next(), now);
  state_.start(now);
  holds_.show();
}

void Lane::follow_settings(TimePoint now) {
  state_.set_pause_after(context_.lanes.pause_after);
  rate_.change(context_.lanes.rate, now);
  stages_.follow_settings();
  submit(now);
}

bool Lane::work(TimePoint now) {
  if (state_.state() == State::revoked) return false;
  intake_.signalled();
  stages_.collect(now);
  // First, because otherwise new records would use everything that a rate allows.
  submit_due_retries(now);
  submit(now);
  bool more = false;
  if (state_.may_take()) more = take(now) == Take::more && state_.may_take();
  if (seeks_beginning()) intake_.find_beginning(*source_, now);
  if (state_.state() == State::draining) drained_ = stages_.drained();
  return more;
}

Take Lane::take(TimePoint now) {
  const auto fetched = source_->fetched();
  const auto allowed = rate_.room(now);
  if (allowed.none()) {
    update_holds(now);
    return Take::empty;
  }
  auto& first = stages_.all().front()->workload();
  auto batch = first.new_batch();
  const Take result = intake_.run(*source_, *batch, allowed, now);
  rate_.charge(batch->items.size(), batch->size_in_bytes, now);
  if (result == Take::empty) rate_.leave(now);
  if (batch->items.empty()) {
    first.put_back(std::move(batch));
  } else {
    stages_.add(std::move(batch), now);
    submit(now);
  }
  update_holds(now);
  prefetch_.after_run(*source_, fetched);
  return result;
}

void Lane::submit(TimePoint now) {
  stages_.submit(now);
  update_holds(now);
}

/// Whether failed records let new records pass. There must be new records.
bool Lane::leaves_turn_to_new(const Line& line) const {
  if (line.leaves_turn_to_new()) return true;
  const bool takes = state_.state() == State::running || state_.state() == State::held;
  return rate_.turn_of_new() && takes && intake_.not_empty() &&
         !state_.held_by_other_than(Hold::rate_limited);
}

void Lane::submit_due_retries(TimePoint now) {
  if (stages_.waiting_attempts() == 0) return;
  bool any = false;
  for (const auto& stage : stages_.all())
    for (const auto& line : stage->lines()) any = submit_due_retries(*stage, *line, now) || any;
  if (any) submit(now);
}

bool Lane::submit_due_retries(const Stage& stage, Line& line, TimePoint now) {
  auto& attempts = line.attempts();
  bool any = stage.write_again(line, now);
  // The breaker would only withhold further records and return them.
  auto room = attempts.due(now) ? stage.failed().downstream_room(line, now) : 0;
  const bool probing = !line.downstream().closed();
  while (room > 0 && attempts.due(now) && !leaves_turn_to_new(line) && !rate_.room(now).none()) {
    if (!line.begin_failed(now)) return any;  // the line asks on
    auto item = attempts.pop(now, probing);
    if (!item) break;
    if (!attempts.begins(*item, now)) continue;
    rate_.took_failed();
    line.took_failed();
    rate_.charge_failed(item->record.size(), now);
    line.charge_failed(item->record.size(), now);
    stage.run_alone(std::move(*item), line);
    any = true;
    --room;
  }
  line.leave_failed(now);
  return any;
}

TimePoint Lane::tick(TimePoint now) {
  if (state_.state() == State::revoked) return now + idle_tick;
  stages_.collect(now);
  stages_.tick(now);
  submit_due_retries(now);
  if (gate_.careful())
    gate_.tick(source_ == nullptr ? kafka::no_offset : source_->log_bounds().end, position_.next(), now);
  submit(now);
  if (source_ != nullptr) tick_source(now);
  tick_oldest(now);
  const auto waiting = stages_.waiting_attempts();
  stats_->waiting_retries.set(waiting);
  publish(now);
  const bool idle = stages_.idle() && !prefetch_.is_dry() && !position_.in_doubt();
  TimePoint next = now + (idle ? idle_tick : busy_tick);
  if (source_ != nullptr) {
    // The client may deliver nothing while it reports an error or waits for an answer to a rebalance.
    const bool wants = state_.may_take() && !errors_.any() && !context_.rebalancing;
    next = std::min(next, silence_.tick(*source_, wants, position_.next(), now));
    stats_->silent_ns.set(silence_.silent().count());
  }
  if (waiting > 0) next = std::min(next, next_retry(now));
  next = std::min(next, stages_.next_due(now));
  next = std::min(next, prefetch_.next_look(now));
  return std::min(next, tick_take(now));
}

void Lane::tick_source(TimePoint now) {
  if (position_.in_doubt()) {
    const auto found = position_.tick(*source_, now);
    if (found == LogPosition::Found::another_log) start_over();
    if (found != LogPosition::Found::nothing) update_holds(now);
  }
  if (state_.state() == State::held || state_.state() == State::paused) tick_pause(now);
  prefetch_.tick(*source_, state_.may_take(), position_.next(), now);
  if (errors_.any() && position_.tick_errors(*source_, state_.may_take(), now)) update_holds(now);
}

/// The log was replaced by another one: nothing that was known of the records is valid for it.
void Lane::start_over() {
  stages_.start_over();
  oldest_.start_over();
  commits_.start_over();
  suspects_.clear();
  intake_.start_over();
  if (gate_.careful()) gate_.relax("the offsets went back");
}

void Lane::tick_pause(TimePoint now) {
  const bool paused = state_.state() == State::paused;
  if (seeks_beginning() || (paused && pause_.resume_due(stages_.time_left(), now))) return resume(now);
  if (!pause_.pause_due(now)) return;
  if (!state_.has(Hold::suspended)) take_what_is_fetched(now);  // nothing more is wanted then
  // The hold may have ended meanwhile; a lane that is not held would never resume its client.
  if (state_.has(Hold::position) || !state_.pause(now)) return;
  source_->pause();
  holds_.show();
  // For operators, a lane that they have suspended is not paused.
  const auto level = state_.held_by_itself() ? telemetry::Level::info : telemetry::Level::debug;
  id_.log("lane paused", ledger_.committable(), holds_.held_by(cause_of_hold()), level);
}

void Lane::resume(TimePoint now) {
  if (!state_.resume(now)) return;
  source_->resume(position_.resumes_at(source_->log_bounds()));
  holds_.show();
  if (state_.may_take()) intake_.resumed(now);
  if (state_.held_by_itself()) id_.log("lane resumed", ledger_.committable());
}

/// Pausing makes the client discard what it has fetched, so the lane takes these records first, also beyond
/// its share of the memory: they have their memory already, and those of a compressed batch would be fetched
/// and decompressed again from the start of the batch. What the client fetches meanwhile is not waited for.
void Lane::take_what_is_fetched(TimePoint now) {
  const auto last = position_.delivered() + static_cast<std::int64_t>(source_->fetched());
  const auto wants = [&] { return intake_.has_room() || position_.delivered() < last; };
  intake_.set_exceeds_memory(true);
  while (intake_.has_window() && wants() && !state_.has(Hold::position))
    if (take(now) == Take::empty) break;
  intake_.set_exceeds_memory(false);
}

void Lane::tick_oldest(TimePoint now) {
  std::vector<const WaitingRecords*> waiting;
  bool works = true;
  for (const auto& stage : stages_.all())
    for (const auto& line : stage->lines()) {
      works = works && line->downstream().closed();
      if (const auto& records = line->attempts().waiting(); records.size() > 0) waiting.push_back(&records);
    }
  const auto outlived = oldest_.tick(waiting, works, now);
  if (!outlived) return;
  if (const auto oldest = ledger_.oldest_incomplete(); oldest && outlived->is_new)
    oldest_.report(describe(*oldest, now), now);
  for (const auto& stage : stages_.all())
    for (const auto& line : stage->lines())
      while (auto item = line->attempts().give_up_waiting(outlived->sequence, outlived->why))
        stage->run_alone(std::move(*item), *line);
}

/// When the first record that waits can be submitted, as far as is known.
TimePoint Lane::next_retry(TimePoint now) {
  const auto due = std::max(stages_.next_attempt(now), now + milliseconds(1));
  return rate_.waits(now) ? std::max(due, rate_.ready_at(now)) : due;
}

/// Records may be left in the buffer after a hold that ended by the clock or by another lane. The client does
/// not signal them: it signals only when a buffer was empty.
TimePoint Lane::tick_take(TimePoint now) {
  if (state_.has(Hold::rate_limited)) update_holds(now);
  if (intake_.not_empty() && state_.may_take() && work(now)) return now;
  if (!state_.has(Hold::rate_limited)) return TimePoint::max();
  if (rate_.waits(now)) return std::max(rate_.ready_at(now), now + milliseconds(1));
  // Stage::next_due waits for the rate of a pool. Otherwise another thread has just let the lane go on.
  const bool of_pool = (stages_.blocked(now) & bit(Hold::rate_limited)) != 0;
  return of_pool ? TimePoint::max() : now + milliseconds(1);
}

void Lane::publish(TimePoint now) {
  holds_.show();
  const auto totals = state_.totals(now);
  stats_->holds.set(totals.holds);
  stats_->pauses.set(totals.pauses);
  stats_->held_ns.set(totals.held.count());
  stats_->paused_ns.set(totals.paused.count());
  stats_->delivered_offset.set(position_.delivered());
  stats_->finished_beyond.set(ledger_.completed_beyond());
  stats_->record_bytes.set(stages_.bytes());
  if (source_ == nullptr) return;
  position_.tick_bounds(*source_, state_.state() != State::held && state_.state() != State::paused, now);
  const auto log = source_->log_bounds();
  if (state_.state() == State::paused) position_.leave_out_expired(*source_, log.start);
  position_.watch_retention(log);
  stats_->lag.set(position_.lag(log));
}

void Lane::follow_suspensions(TimePoint now) {
  const auto* asked = context_.suspensions;
  if (asked != nullptr) commits_.decide(asked->decision(id_.partition));
  const auto since = commits_.suspended_ms();
  const bool wanted = since || (asked != nullptr && asked->suspended_here(id_.partition));
  if (!holds_.set(Hold::suspended, wanted, now)) return;
  if (!wanted) return id_.log("lane no longer suspended", ledger_.committable());
  id_.log(
      "lane suspended", ledger_.committable(),
      since ? "an operator suspended it at " + utc_time(*since) : "an operator suspended it in this process",
      telemetry::Level::warn);
}

LaneDetail Lane::detail(TimePoint now) const {
  LaneDetail detail{holds_.held_by(cause_of_hold()), {}, errors_.why(), errors_.failing(now), {},
                    commits_.suspended_ms()};
  detail.hold_reasons = holds_.reasons(cause_of_hold());
  for (const auto& stage : stages_.all())
    for (const auto& line : stage->lines()) {
      const auto& error = line->attempts().log().last_error();
      if (error && (!detail.last_error || error->at_ms > detail.last_error->at_ms)) detail.last_error = error;
    }
  if (const auto oldest = ledger_.oldest_incomplete()) detail.oldest = describe(*oldest, now);
  if (source_ != nullptr) detail.open_transaction = position_.waits_for_transaction(source_->log_bounds());
  return detail;
}

OldestRecord Lane::describe(const Ledger::Position& oldest, TimePoint now) const {
  OldestRecord record{oldest.offset, oldest_.age(oldest.sequence, now)};
  const auto look = [&](const handler::Item& item, OldestRecord::Phase phase) {
    // Of the parts of a split record, one that runs counts more than one that waits or is queued.
    if (item.sequence != oldest.sequence || phase > record.phase) return;
    record.phase = phase;
    // Only this thread writes the history, also while a worker has the record.
    if (item.failures) {
      record.failed_attempt = item.failures->last_attempt;
      record.error = item.failures->in_words();
    }
    record.attempt = phase == OldestRecord::Phase::running ? item.attempt : record.failed_attempt;
  };
  for (const auto& stage : stages_.all())
    for (const auto& line : stage->lines())
      line->attempts().waiting().each(
          [&](const handler::Item& item) { look(item, OldestRecord::Phase::waiting); });
  for (const auto* work : stages_.works()) work->workload.each_unanswered(look);
  return record;
}

Skip Lane::skip(std::int64_t offset, const std::string& reason, TimePoint now) {
  if (state_.state() == State::draining || state_.state() == State::revoked) return Skip::leaving;
  if (position_.corrupt() && offset >= position_.next()) {
    const auto answer = position_.pass_over_corrupt(*source_, offset, reason);
    update_holds(now);
    return answer;
  }
  if (context_.forward == nullptr) return Skip::no_dead_letters;
  stages_.collect(now);
  if (position_.delivered() < offset) return Skip::not_taken;
  const auto sequence = ledger_.incomplete_at(offset);
  if (!sequence) return Skip::not_waiting;
  return skip_all(*sequence, reason, now);
}

/// Skips every sub-job of the record.
Skip Lane::skip_all(Sequence sequence, const std::string& reason, TimePoint now) {
  auto answer = Skip::when_it_fails;
  for (const auto& stage : stages_.all()) {
    for (const auto& line : stage->lines()) {
      stage->put_off(*line, sequence, now);
      for (;;) {
        auto skipped = line->attempts().skip(sequence, reason);
        if (skipped.answer != Skip::when_it_fails) answer = skipped.answer;
        if (!skipped.item) break;
        stage->run_alone(std::move(*skipped.item), *line);
      }
    }
  }
  submit(now);
  return answer;
}

void Lane::begin_drain(TimePoint now, TimePoint deadline) {
  stages_.collect(now);
  if (!state_.drain(now)) return;
  note_suspects();  // the drain forgets the records that wait
  stats_->state.set(State::draining);
  rate_.leave(now);
  id_.log("lane draining", ledger_.committable());
  const bool finish = context_.lanes.drain_queued == config::DrainQueued::finish && !gate_.careful();
  if (gate_.closed()) gate_.drain();
  stages_.begin_drain(finish, deadline - now, now);
  work(now);
}

std::uint64_t Lane::revoke(TimePoint now, Ending ending) {
  if (state_.state() == State::revoked) return 0;
  stages_.collect(now);
  for (const auto& stage : stages_.all())
    for (const auto& line : stage->lines()) line->attempts().tick(now, true);
  const bool lost = state_.state() != State::draining;
  if (lost) {
    state_.drain(now);
    cancel();
  }
  state_.revoke(now);
  stats_->state.set(State::revoked);
  source_.reset();
  rate_.leave(now);
  if (gate_.careful()) gate_.leave();
  stages_.close();
  const auto abandoned = stages_.abandon(ending == Ending::given_up);
  if (context_.totals != nullptr) context_.totals->abandoned.add(abandoned);
  return abandoned;
}

}  // namespace laneway::lane
