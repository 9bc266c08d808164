#include "service/pools/lane_pools.h"

namespace laneway::service {
namespace {

template <class Get>
Histogram::Snapshot sum_of(const lane::Lane& lane, Get get) {
  Histogram::Snapshot sum;
  for (const auto* pool : lane.pools()) sum += get(*pool).snapshot();
  return sum;
}

}  // namespace

LanePools pools_of(const lane::Lane& lane) {
  LanePools all;
  for (const auto* pool : lane.pools()) {
    const auto snapshot = pool->snapshot();
    const auto limits = pool->limits();
    all.in_flight += snapshot.in_flight;
    all.queued += snapshot.queued;
    all.queue_capacity += limits.queue;
    all.slots += limits.workers;
    all.free += snapshot.free;
    all.threads += snapshot.threads;
    all.active += snapshot.active;
    all.stuck += snapshot.stuck;
    all.start_failures += snapshot.start_failures;
  }
  return all;
}

Histogram::Snapshot durations_of(const lane::Lane& lane) {
  return sum_of(lane, [](const pool::Pool& pool) -> const Histogram& { return pool.duration(); });
}

Histogram::Snapshot queue_waits_of(const lane::Lane& lane) {
  return sum_of(lane, [](const pool::Pool& pool) -> const Histogram& { return pool.queue_wait(); });
}

}  // namespace laneway::service
