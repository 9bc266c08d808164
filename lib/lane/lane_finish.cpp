// What came back from the workers: the ledger is marked, failed records wait for their next attempt, keys go
// on.
#include <algorithm>

#include "lane/lane.h"
#include "telemetry/log.h"
#include "tracing/record_trace.h"

namespace laneway::lane {

void Lane::collect(TimePoint now) {
  execution_.collect(finished_);
  if (finished_.empty()) return;
  if (ordered_) slice_ = slice();
  for (auto& finished : finished_) apply(finished, now);
}

void Lane::apply(handler::Finished& finished, TimePoint now) {
  const auto& range = finished.claim.range;
  auto& batch = static_cast<handler::RecordBatch&>(*range.batch);
  if (batch.route == handler::Route::dead_letter) attempts_.log().letters(finished, now);
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
  if (auto next = attempts_.fail(std::move(item), outcome, took, now)) run_alone(std::move(*next));
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

void Lane::submit_due_retries(TimePoint now) {
  if (!attempts_.due(now)) return;
  // What the breaker would withhold would only come back.
  auto room = context_.downstream->room(&execution_, now);
  const bool probing = !context_.downstream->closed();
  bool any = false;
  while (room > 0 && attempts_.due(now) && !leaves_turn_to_new() && !rate_.room(now).none()) {
    auto item = attempts_.pop(now, probing);
    if (!item) break;
    new_ones_turn_ = true;
    if (!attempts_.begins(*item, now)) continue;
    rate_.charge(1, item->record.size(), now);
    run_alone(std::move(*item));
    any = true;
    --room;
  }
  if (any) submit(now);
}

}  // namespace laneway::lane
