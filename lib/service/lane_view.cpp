#include "service/lane_view.h"

#include "lane/lane.h"

namespace laneway::service {
namespace {

template <class Get>
Histogram::Snapshot sum_of(const lane::Lane& lane, Get get) {
  Histogram::Snapshot sum;
  for (const auto* pool : lane.pools()) sum += get(*pool).snapshot();
  return sum;
}

/// A lane without named pools has one pool, and the sums are its numbers.
void add_pools(const lane::Lane& lane, LaneView& view) {
  for (const auto* pool : lane.pools()) {
    const auto snapshot = pool->snapshot();
    const auto limits = pool->limits();
    view.in_flight += snapshot.in_flight;
    view.queued_in_pools += snapshot.queued;
    view.queue_capacity += limits.queue;
    view.workers += limits.workers;
    view.free_workers += snapshot.free;
    view.threads += snapshot.threads;
    view.active_threads += snapshot.active;
    view.stuck += snapshot.stuck;
    view.refused_threads += snapshot.start_failures;
  }
  view.queued = view.queued_in_pools;
  for (const auto& pool : view.pools) view.queued += static_cast<std::uint32_t>(pool.waiting);
}

}  // namespace

LaneView view_of(const lane::Lane& lane, std::size_t member) {
  const auto& stats = lane.stats();
  LaneView view;
  view.member = member;
  view.topic = lane.partition().topic;
  view.partition = lane.partition().partition;
  view.epoch = lane.epoch();
  view.state = stats.state.get();
  view.lag = stats.lag.get();
  view.finished_beyond = stats.finished_beyond.get();
  view.pools = lane.pool_views();
  add_pools(lane, view);
  view.waiting_retries = stats.waiting_retries.get();
  view.done = stats.outcomes[0].get();
  view.committed = stats.committed.offset.get();
  view.stored_decision_ms = stats.committed.decision_ms.get();
  view.holds = stats.holds.get();
  view.pauses = stats.pauses.get();
  view.delivered = stats.delivered_offset.get();
  view.finished = view.done + stats.retry_topics.get() + stats.parked.get();
  for (const auto& letters : stats.dead_letters) view.dead_letters += letters.get();
  view.finished += view.dead_letters;
  view.processed_bytes = stats.processed_bytes.get();
  view.work = durations_of(lane).sum;
  view.hold_bits = stats.hold_bits.get();
  view.silent = Duration(stats.silent_ns.get());
  view.retry_delay = lane.retry_delay();
  view.due = Duration(stats.oldest.due_ns.get()) <= SteadyClock::now().time_since_epoch();
  const auto since = stats.oldest.since_ns.get();
  if (since != 0) view.oldest_age = SteadyClock::now() - TimePoint(Duration(since));
  return view;
}

Histogram::Snapshot durations_of(const lane::Lane& lane) {
  return sum_of(lane, [](const pool::Pool& pool) -> const Histogram& { return pool.duration(); });
}

Histogram::Snapshot queue_waits_of(const lane::Lane& lane) {
  return sum_of(lane, [](const pool::Pool& pool) -> const Histogram& { return pool.queue_wait(); });
}

}  // namespace laneway::service
