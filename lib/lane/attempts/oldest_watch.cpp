#include "lane/attempts/oldest_watch.h"

#include <algorithm>
#include <utility>

#include "telemetry/log.h"

namespace laneway::lane {

std::optional<OldestWatch::Outlived> OldestWatch::tick(const Waiting& waiting, bool works, TimePoint now) {
  works_ = works;
  if (out()) last_out_ = now;
  const auto oldest = lane_.ledger.oldest_incomplete();
  if (!oldest) {
    lane_.stats.oldest.since_ns.set(0);
    lane_.stats.oldest.due_ns.set(0);
    since_ = {};
    return {};
  }
  if (oldest->sequence != seen_ || since_ == TimePoint{}) {
    since_ = now;
    outlived_seen_ = false;
    done_before_ = waiting.empty() ? lane_.ledger.done() : done_before(oldest->sequence, waiting);
    const auto due = delayed_ ? due_since(oldest->sequence, waiting, now) : now;
    lane_.stats.oldest.due_ns.set(due.time_since_epoch().count());
  }
  seen_ = oldest->sequence;
  lane_.stats.oldest.since_ns.set(since_.time_since_epoch().count());
  const auto why = outlived(now);
  if (!why) return {};
  return Outlived{oldest->sequence, *why, !std::exchange(outlived_seen_, true)};
}

/// A record that waits in a retry topic as intended does not age.
TimePoint OldestWatch::due_since(Sequence oldest, const Waiting& waiting, TimePoint now) const {
  auto due = now;
  for (const auto* records : waiting)
    due = std::max(due,
                   records->due_of([&](const auto& item) { return item.sequence == oldest; }).value_or(now));
  return due;
}

/// How many records were finished when this record first failed or, if it has not failed, became the oldest.
std::uint64_t OldestWatch::done_before(Sequence oldest, const Waiting& waiting) const {
  auto done = lane_.ledger.done();
  const auto look = [&](const handler::Item& item) {
    if (item.sequence == oldest && item.failures) done = std::min(done, item.failures->done_before);
  };
  for (const auto* records : waiting)
    if (records->size() > 0) records->each(look);
  return done;
}

/// Whether the window, which is full, is full because the oldest record stays while others pass. If records
/// run in order, records that wait for their keys fill the window too; then the oldest record is only the
/// next one.
bool OldestWatch::overtaken() const {
  return lane_.lanes.order == config::Order::none ||
         lane_.ledger.done() - done_before_ >= lane_.lanes.max_incomplete / 2;
}

std::optional<delivery::DeadLetterReason> OldestWatch::outlived(TimePoint now) const {
  const auto limit = lane_.rules.max_age;
  if (delayed_ || since_ == TimePoint{}) return {};
  if (out()) return {};
  if (limit > Duration::zero() && now - std::max(since_, last_out_) >= limit)
    return delivery::DeadLetterReason::too_old;
  if (lane_.state.has(Hold::window_full) && overtaken()) return delivery::DeadLetterReason::window_full;
  return {};
}

void OldestWatch::report(const OldestRecord& record, TimePoint now) const {
  telemetry::warn("a record holds back the commits",
                  {{"topic", lane_.id.partition.topic},
                   {"partition", lane_.id.partition.partition},
                   {"offset", record.offset},
                   {"epoch", lane_.id.epoch},
                   {"age_ms", now - since_},
                   {"records_behind", lane_.ledger.window() - 1},
                   {"place", name_of(record.phase)},
                   {"attempt", record.attempt},
                   {"error", record.error},
                   {"policy", lane_.rules.policy == config::LedgerPolicy::hold ? "hold" : "dead_letter"}});
}

}  // namespace laneway::lane
