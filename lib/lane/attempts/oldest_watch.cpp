#include "lane/attempts/oldest_watch.h"

#include <algorithm>
#include <utility>

#include "telemetry/log.h"

namespace laneway::lane {

std::optional<OldestWatch::Outlived> OldestWatch::tick(const Waiting& waiting, bool works, TimePoint now) {
  works_ = works;
  if (out()) last_out_ = now;
  const auto oldest = ledger_.oldest_incomplete();
  if (!oldest) {
    stats_.oldest.since_ns.set(0);
    stats_.oldest.due_ns.set(0);
    since_ = {};
    return {};
  }
  if (oldest->sequence != seen_ || since_ == TimePoint{}) {
    since_ = now;
    outlived_seen_ = false;
    done_before_ = done_before(oldest->sequence, waiting);
    stats_.oldest.due_ns.set(due_since(oldest->sequence, waiting, now).time_since_epoch().count());
  }
  seen_ = oldest->sequence;
  stats_.oldest.since_ns.set(since_.time_since_epoch().count());
  const auto why = outlived(now);
  if (!why) return {};
  return Outlived{oldest->sequence, *why, !std::exchange(outlived_seen_, true)};
}

/// A record that waits in a retry topic as intended does not age.
TimePoint OldestWatch::due_since(Sequence oldest, const Waiting& waiting, TimePoint now) const {
  auto due = now;
  if (!delayed_) return due;
  for (const auto* records : waiting)
    due = std::max(due,
                   records->due_of([&](const auto& item) { return item.sequence == oldest; }).value_or(now));
  return due;
}

/// How many records were finished when this record first failed or, if it has not failed, became the oldest.
std::uint64_t OldestWatch::done_before(Sequence oldest, const Waiting& waiting) const {
  auto done = ledger_.done();
  const auto look = [&](const handler::Item& item) {
    if (item.sequence == oldest && item.failures) done = std::min(done, item.failures->done_before);
  };
  for (const auto* records : waiting) records->each(look);
  return done;
}

/// The window is full because the oldest record stays while others pass. If records run in order, records
/// that wait for their keys fill the window too; then the oldest record is only the next one.
bool OldestWatch::overtaken() const {
  if (!state_.has(Hold::window_full)) return false;
  return context_.lanes.order == config::Order::none ||
         ledger_.done() - done_before_ >= context_.lanes.max_incomplete / 2;
}

std::optional<delivery::DeadLetterReason> OldestWatch::outlived(TimePoint now) const {
  const auto limit = context_.ledger.max_age;
  if (delayed_ || since_ == TimePoint{}) return {};
  if (out()) return {};
  if (limit > Duration::zero() && now - std::max(since_, last_out_) >= limit)
    return delivery::DeadLetterReason::too_old;
  if (overtaken()) return delivery::DeadLetterReason::window_full;
  return {};
}

void OldestWatch::report(const OldestRecord& record, TimePoint now) const {
  telemetry::warn(
      "a record holds back the commits",
      {{"topic", id_.partition.topic},
       {"partition", id_.partition.partition},
       {"offset", record.offset},
       {"epoch", id_.epoch},
       {"age_ms", now - since_},
       {"records_behind", ledger_.window() - 1},
       {"place", name_of(record.phase)},
       {"attempt", record.attempt},
       {"error", record.error},
       {"policy", context_.ledger.policy == config::LedgerPolicy::hold ? "hold" : "dead_letter"}});
}

}  // namespace laneway::lane
