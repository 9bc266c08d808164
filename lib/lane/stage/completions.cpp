#include "lane/stage/completions.h"

#include <algorithm>

#include "lane/state/record_life.h"

namespace laneway::lane {
namespace {

using handler::ItemState;

/// What it means that a record of the batch is done, and who has the record then.
const RecordStep& when_done(const WorkBatch& batch) {
  return after(RecordState::running, event_of(batch.route, batch.passes_on, handler::Verdict::done));
}

bool left_early(const handler::Item& item) {
  return item.state == ItemState::collected || item.state == ItemState::returned;
}

/// How many records of the claim were taken out of it while it ran.
std::uint32_t count_early(const WorkBatch& batch, const pool::Range& range) {
  const auto at = [&](std::uint32_t i) { return batch.items.begin() + static_cast<std::ptrdiff_t>(i); };
  return static_cast<std::uint32_t>(std::count_if(at(range.begin), at(range.end), left_early));
}

}  // namespace

void Completions::collect(TimePoint now) {
  workload_.collect(finished_);
  for (auto& finished : finished_) apply(finished, now);
}

void Completions::collect_overdue() {
  for (const auto& overdue : workload_.pool().overdue()) apply_early(overdue);
}

/// The worker still has the batch and the unanswered records. A claim without one is about to be finished.
void Completions::apply_early(const pool::Overdue& overdue) {
  const auto& range = overdue.claim.range;
  auto& batch = batch_of(range);
  if (!workload_.current(batch) || batch.route != handler::Route::work) return;
  const auto runs = [&](std::uint32_t i) { return batch.items[i].seen_state() == ItemState::unanswered; };
  auto running = range.begin;
  while (running < overdue.unbegun && !runs(running)) ++running;
  if (running == overdue.unbegun) return;
  const auto first_key = batch.items[range.begin].key;
  std::uint32_t taken = 0;
  std::vector<handler::Item> unbegun;
  for (auto i = range.begin; i < range.end; ++i) {
    auto& item = batch.items[i];
    const auto state = i == running ? ItemState::unanswered : item.seen_state();
    const auto key = item.key;
    if (state == ItemState::done) {
      done(item, batch);
      if (!batch.sequential && key != 0) workload_.release_key(key);
      item.publish_state(ItemState::collected);
    } else if (state == ItemState::unanswered && i >= overdue.unbegun) {
      batch.size_in_bytes -= item.record.size();
      unbegun.push_back(std::move(item));
      item.publish_state(ItemState::returned);
    } else {
      continue;
    }
    ++taken;
  }
  if (taken == 0) return;
  workload_.leave_early(overdue.claim, taken);
  workload_.take_back(batch, first_key, std::move(unbegun));
}

/// A record that was rejected, or refused because there were too many, shows that its downstream works.
void Completions::tell_line(const handler::Finished& finished, Line& line, TimePoint now) {
  if (finished.done > 0) return line.note_worked(now);
  using handler::Cause;
  for (const auto& [index, outcome] : finished.failures) {
    if (outcome.verdict == handler::Verdict::reject || outcome.cause == Cause::throttled) continue;
    if (outcome.cause == Cause::withheld) continue;
    return line.note_failed(outcome.cause == Cause::local, now);
  }
}

void Completions::apply(handler::Finished& finished, TimePoint now) {
  const auto& range = finished.claim.range;
  auto& batch = batch_of(range);
  if (batch.route == handler::Route::work) tell_line(finished, *batch.line, now);
  if (batch.route == handler::Route::dead_letter) batch.line->attempts().log().letters(finished, now);
  if (batch.route == handler::Route::parked) workload_.note_parked(finished, now);
  const auto attempts = finished.done + finished.failures.size();
  if (batch.route == handler::Route::work && finished.busy > Duration::zero())  // else withheld
    batch.line->note_call(finished.busy / static_cast<std::int64_t>(std::max<std::size_t>(attempts, 1)));
  const auto early = batch.left_early == 0 ? 0 : count_early(batch, range);
  if (workload_.current(batch)) {
    const bool all_done = finished.done == range.count() && early == 0;
    if (!all_done || (workload_.ordered() && !batch.sequential)) {
      apply_each(finished, batch, now);
    } else {
      const auto& first = batch.items[range.begin];
      const auto key = first.key;
      if (batch.consecutive && when_done(batch).commits)
        ledger_.complete(first.sequence, range.count());
      else
        for (auto i = range.begin; i < range.end; ++i) done(batch.items[i], batch);
      if (batch.sequential) workload_.release_key(key);
    }
  }
  const auto left = range.count() - early;
  const bool ends = left == batch.unfinished && batch.route == handler::Route::work;
  if (ends && gate_.careful()) gate_.survived(batch);
  workload_.finish(batch, left);
}

void Completions::done(handler::Item& item, const WorkBatch& batch) {
  recover(item, *batch.line);
  if (when_done(batch).owner == RecordOwner::next_stage) return onward_.pass_on(std::move(item));
  if (item.progress && item.progress->gathering)
    return onward_.end_part(std::move(item), batch.route != handler::Route::work);
  ledger_.complete(item.sequence);
}

/// A record that is done may have failed before: then the downstream fails now and then.
void Completions::recover(const handler::Item& item, const Line& line) {
  if (!item.failures || item.route() != handler::Route::work) return;
  const auto failures = item.failures->blame.counted();
  const auto shared = item.failures->shared;  // those calls may have failed because of a poison record
  if (failures > shared) line.downstream().recovered(failures - shared);
}

void Completions::apply_each(handler::Finished& finished, WorkBatch& batch, TimePoint now) {
  const auto& range = finished.claim.range;
  // The average of each record: only the total time is known.
  const auto attempts = finished.done + finished.failures.size();
  const auto took = finished.busy / static_cast<std::int64_t>(std::max<std::size_t>(attempts, 1));
  auto failure = finished.failures.begin();
  const auto first_key = batch.items[range.begin].key;
  std::vector<handler::Item> unbegun;
  for (auto i = range.begin; i < range.end; ++i) {
    auto& item = batch.items[i];
    if (left_early(item)) continue;
    if (item.state != ItemState::done) batch.size_in_bytes -= item.record.size();
    if (item.state == ItemState::done) {
      const auto key = item.key;
      done(item, batch);
      if (!batch.sequential && key != 0) workload_.release_key(key);
    } else if (item.state == ItemState::failed) {
      while (failure != finished.failures.end() && failure->index != i) ++failure;
      fail(std::move(item), *batch.line, failure->outcome, took, now);
    } else {
      unbegun.push_back(std::move(item));
    }
  }
  workload_.take_back(batch, first_key, std::move(unbegun));
  // After a failure, the failed record of the key comes first, after its delay.
  if (batch.sequential && finished.failures.empty()) workload_.release_key(first_key);
}

void Completions::fail(handler::Item item, Line& line, const handler::Outcome& outcome, Duration took,
                       TimePoint now) {
  if (workload_.cancelled()) return workload_.abandon(item.offset(), item.attempt, &item.record);
  if (workload_.drains()) {
    line.attempts().fail_in_drain(item, outcome, took, now);
    return onward_.failed_in_drain(std::move(item), line);
  }
  auto next = line.attempts().fail(std::move(item), outcome, took, now);
  if (!next) return;
  workload_.run_alone(std::move(*next), line);
}

}  // namespace laneway::lane
