#include "lane/lane.h"

#include <algorithm>

#include "telemetry/log.h"

namespace laneway::lane {
namespace {

Ledger make_ledger(const kafka::CommittedOffset& start) {
  if (start.offset == kafka::no_offset) return Ledger();
  std::string_view map = start.metadata;
  (void)take_marker(map);
  auto decoded = decode(map, start.offset);
  if (decoded.map) return Ledger(std::move(*decoded.map));
  telemetry::warn("completion map ignored", {{"topic", start.partition.topic},
                                             {"partition", start.partition.partition},
                                             {"offset", start.offset},
                                             {"error", decoded.reason}});
  return Ledger(start.offset);
}

const delivery::RetryStage* stage_of(const LaneContext& context, const std::string& topic) {
  return context.retry_stages == nullptr ? nullptr : context.retry_stages->find(topic);
}

}  // namespace

Lane::Lane(const LaneContext& context, const kafka::CommittedOffset& start, std::uint64_t epoch,
           std::function<void()> on_ready)
    : context_(context),
      id_{start.partition, epoch},
      stage_(stage_of(context, id_.partition.topic)),
      stats_(std::make_unique<LaneStats>()),
      state_(context.lanes.pause_after),
      ledger_(make_ledger(start)),
      oldest_(context, id_, ledger_, state_, delayed(), *stats_),
      attempts_(context, id_, ledger_, oldest_, stage_),
      gate_(context, id_, ledger_, start),
      commits_(start, ledger_, gate_, *stats_),
      rate_(context),
      next_offset_(start.offset),
      silence_(context, id_.partition),
      workload_(context, id_, ledger_, gate_, *stats_, std::move(on_ready)),
      completions_(context, ledger_, attempts_, gate_, workload_) {
  stats_->delivered_offset.set(-1);
  stats_->lag.set(-1);
}

void Lane::start(std::unique_ptr<PartitionSource> source, TimePoint now) {
  source_ = std::move(source);
  gate_.start();
  follow_hand(now);
  silence_.start(next_offset_, now);
  state_.start(now);
  show_state();
}

void Lane::follow_settings(TimePoint now) {
  attempts_.follow_settings();
  state_.set_pause_after(context_.lanes.pause_after);
  rate_.follow_settings(now);
  workload_.follow_settings();
  submit(now);
}

bool Lane::work(TimePoint now) {
  if (state_.state() == State::revoked) return false;
  not_empty_ = true;  // the source may have signalled
  completions_.collect(now);
  submit(now);
  bool more = false;
  if (state_.may_take()) more = take(now) == Take::more && state_.may_take();
  if (state_.state() == State::draining) drained_ = workload_.drained();
  return more;
}

/// The records that the breaker has not let begin ask the downstream; without any, new ones are taken.
bool Lane::breaker_holds() const { return !context_.downstream->closed() && attempts_.waiting().fresh() > 0; }

void Lane::submit(TimePoint now) {
  while (const auto* next = workload_.next()) {
    if (gate_.closed() && !may_begin(*next, now)) break;
    if (workload_.submit_next()) continue;
    if (!state_.has(Hold::pool_full)) stats_->rejections.add(1);
    break;
  }
  update_holds(now);
}

bool Lane::wants_commit() const {
  return gate_.wants_commit() && ledger_.committable() >= 0 && state_.state() != State::draining;
}

/// Whether the first of these records may go to the pool now.
bool Lane::may_begin(const Workload::Pending& next, TimePoint now) {
  auto& batch = *next.batch;
  const auto entry = gate_.may_begin(batch, next.begin > 0, workload_.none_at_work(), now);
  if (entry == CrashGate::Entry::condemned) {
    auto& item = batch.items.front();
    attempts_.condemn(item, gate_.watch().crashes(item.offset()));
    batch.route = handler::Route::dead_letter;
  }
  return entry != CrashGate::Entry::later;
}

void Lane::tick_careful(TimePoint now) {
  gate_.tick(source_ == nullptr ? kafka::no_offset : source_->log_bounds().end, next_offset_, now);
}

/// At the pace of a downstream, failed records and new ones take turns. Else a few records that always come
/// too often would have all the calls of a slow pace, and nothing could show that others work.
bool Lane::leaves_turn_to_new() const {
  const bool takes = state_.state() == State::running || state_.state() == State::held;
  return rate_.limited_by_pace() && new_ones_turn_ && takes && not_empty_ &&
         !state_.held_by_other_than(Hold::rate_limited);
}

void Lane::submit_due_retries(TimePoint now) {
  if (!attempts_.due(now)) return;
  // What the breaker would withhold would only come back.
  auto room = workload_.downstream_room(now);
  const bool probing = !context_.downstream->closed();
  bool any = false;
  while (room > 0 && attempts_.due(now) && !leaves_turn_to_new() && !rate_.room(now).none()) {
    auto item = attempts_.pop(now, probing);
    if (!item) break;
    new_ones_turn_ = true;
    if (!attempts_.begins(*item, now)) continue;
    rate_.charge(1, item->record.size(), now);
    workload_.run_alone(std::move(*item));
    any = true;
    --room;
  }
  if (any) submit(now);
}

void Lane::tick_oldest(TimePoint now) {
  attempts_.forget_wishes();
  const auto outlived = oldest_.tick(attempts_.waiting(), now);
  if (!outlived) return;
  if (outlived->is_new) oldest_.report(detail(now).oldest.value_or(OldestRecord{}), now);
  if (auto item = attempts_.give_up_waiting(outlived->sequence, outlived->why))
    workload_.run_alone(std::move(*item));
}

void Lane::update_holds(TimePoint now) {
  const auto was = state_.state();
  const auto keep = [](std::uint64_t value, std::uint64_t limit, bool has) {
    return value >= (has ? limit - limit / 4 : limit);  // a quarter must be free again before it goes on
  };
  state_.set(Hold::pool_full, workload_.next() != nullptr, now);
  state_.set(Hold::window_full,
             keep(ledger_.window(), context_.lanes.max_incomplete, state_.has(Hold::window_full)), now);
  state_.set(Hold::memory_full, keep(memory(), context_.memory.lane_bytes, state_.has(Hold::memory_full)),
             now);
  // Else those that wait, if they all are poison records, keep the end of an outage from being seen.
  const bool asks_new = !context_.downstream->closed() && attempts_.waiting().fresh() == 0;
  const bool retries_full =
      keep(attempts_.waiting().size(), context_.retry.max_waiting, state_.has(Hold::retries_full));
  state_.set(Hold::retries_full, retries_full && !asks_new, now);
  state_.set(Hold::breaker_open, breaker_holds(), now);
  state_.set(Hold::position, judge_.in_doubt() || (corrupt_at_ && !reads_again_), now);
  const bool wants_none = state_.held_by_other_than(Hold::rate_limited) && !attempts_.due(now);
  if (wants_none) rate_.leave(now);
  state_.set(Hold::rate_limited, !wants_none && rate_.waits(now), now);
  workload_.set_eager(state_.state() == State::draining || state_.has(Hold::window_full) ||
                      state_.has(Hold::memory_full) || workload_.keys_wait() || gate_.careful());
  if (state_.state() != was) show_state();
}

std::string_view Lane::words_of(const HoldReason& reason) const {
  if (reason.hold == Hold::pool_full && gate_.careful()) return "a few records at a time";
  if (reason.hold == Hold::pool_full && gate_.closed()) return "waits for its first commit";
  if (reason.hold == Hold::rate_limited && rate_.keeps_pace()) return "the downstream asks for fewer calls";
  if (reason.hold == Hold::position && corrupt_at_) return "corrupt records";
  return reason.words;
}

std::string Lane::held_by() const {
  std::string text;
  for (const auto& reason : hold_reasons) {
    if (!state_.has(reason.hold)) continue;
    if (!text.empty()) text += ", ";
    text += words_of(reason);
  }
  return text;
}

void Lane::show_state() {
  stats_->state.set(state_.state());
  stats_->hold_bits.set(state_.reasons());
}

}  // namespace laneway::lane
