#include "lane/workload/completions.h"

#include <algorithm>

namespace laneway::lane {

void Completions::collect(TimePoint now) {
  workload_.collect(finished_);
  for (auto& finished : finished_) apply(finished, now);
}

void Completions::apply(handler::Finished& finished, TimePoint now) {
  const auto& range = finished.claim.range;
  auto& batch = batch_of(range);
  if (batch.route == handler::Route::dead_letter) attempts_.log().letters(finished, now);
  if (workload_.current(batch)) {
    const bool all_done = finished.done == range.count();
    if (all_done && (!workload_.ordered() || batch.sequential))
      apply_done(batch, range.begin, range.end);
    else
      apply_each(finished, batch, now);
  }
  if (!Workload::finish(batch, range.count())) return;
  if (batch.route == handler::Route::work) gate_.survived(batch.size);
  workload_.recycle(batch);
}

void Completions::apply_done(WorkBatch& batch, std::uint32_t begin, std::uint32_t end) {
  completed_ += end - begin;
  if (batch.consecutive)
    ledger_.complete(batch.items[begin].sequence, end - begin);
  else
    for (auto i = begin; i < end; ++i) complete(batch.items[i]);
  if (batch.sequential) workload_.release_key(batch.items[begin].key);
}

/// A record that is done may have failed before: then the downstream fails now and then.
void Completions::complete(const handler::Item& item) {
  ledger_.complete(item.sequence);
  if (!item.failures || item.route() != handler::Route::work) return;
  const auto failures = item.failures->blame.counted();
  const auto shared = item.failures->shared;  // those calls may have failed because of a poison record
  if (failures > shared) context_.downstream->recovered(failures - shared);
}

void Completions::apply_each(handler::Finished& finished, WorkBatch& batch, TimePoint now) {
  const auto& range = finished.claim.range;
  // The average of each record: only the total time is known.
  const auto attempts = finished.done + finished.failures.size();
  const auto took = finished.busy / static_cast<std::int64_t>(std::max<std::size_t>(attempts, 1));
  auto failure = finished.failures.begin();
  std::vector<handler::Item> unbegun;
  for (auto i = range.begin; i < range.end; ++i) {
    auto& item = batch.items[i];
    if (item.state != handler::ItemState::done) batch.unfinished_bytes += item.record.size();
    if (item.state == handler::ItemState::done) {
      ++completed_;
      complete(item);
      if (!batch.sequential && item.key != 0) workload_.release_key(item.key);
    } else if (item.state == handler::ItemState::failed) {
      while (failure != finished.failures.end() && failure->index != i) ++failure;
      fail(std::move(item), failure->outcome, took, now);
    } else {
      unbegun.push_back(std::move(item));
    }
  }
  const auto key = batch.items[range.begin].key;
  workload_.take_back(batch, key, std::move(unbegun));
  // After a failure, the failed record of the key comes first, after its delay.
  if (batch.sequential && finished.failures.empty()) workload_.release_key(key);
}

void Completions::fail(handler::Item item, const handler::Outcome& outcome, Duration took, TimePoint now) {
  if (cancelled_) workload_.abandoned(item.offset(), item.attempt, &item.record);
  if (drains_) return;
  if (auto next = attempts_.fail(std::move(item), outcome, took, now)) workload_.run_alone(std::move(*next));
}

}  // namespace laneway::lane
