#include "lane/shared/parked_records.h"

#include <algorithm>
#include <utility>

namespace laneway::lane {
namespace {

/// Into how many due times the delay of a topic is divided.
constexpr std::int64_t due_times = 64;

/// Not later than the due time, so that no record is counted twice when it is parked again.
TimePoint rounded_down(TimePoint due, Duration delay) {
  const Duration step = std::max<Duration>(delay / due_times, milliseconds(100));
  return due - due.time_since_epoch() % step;
}

}  // namespace

void ParkedRecords::Count::add(const Count& other) {
  records += other.records;
  oldest = std::min(oldest, other.oldest);
}

void ParkedRecords::add(std::string_view pool, std::string_view subscriber, TimePoint since, Duration delay,
                        TimePoint now) {
  const auto due = rounded_down(now + delay, delay);
  MutexLock lock(mutex_);
  auto found = pools_.find(pool);
  if (found == pools_.end()) found = pools_.emplace(pool, Subscribers()).first;
  auto& buckets = buckets_of(found->second, subscriber, now);
  std::erase_if(buckets, [&](const Bucket& bucket) { return bucket.due <= now; });
  const auto at =
      std::find_if(buckets.rbegin(), buckets.rend(), [&](const Bucket& bucket) { return bucket.due <= due; });
  const Count one{1, since};
  if (at != buckets.rend() && at->due == due)
    at->count.add(one);
  else
    buckets.insert(at.base(), {due, one});
}

ParkedRecords::Buckets& ParkedRecords::buckets_of(Subscribers& subscribers, std::string_view subscriber,
                                                  TimePoint now) {
  if (const auto found = subscribers.find(subscriber); found != subscribers.end()) return found->second;
  if (subscribers.size() < most_subscribers) return subscribers[std::string(subscriber)];
  std::erase_if(subscribers, [&](const auto& entry) {
    return std::all_of(entry.second.begin(), entry.second.end(),
                       [&](const Bucket& bucket) { return bucket.due <= now; });
  });
  return subscribers[std::string(subscribers.size() < most_subscribers ? subscriber : others)];
}

void ParkedRecords::all_due() {
  MutexLock lock(mutex_);
  pools_.clear();
}

ParkedRecords::OfPool ParkedRecords::of_pool(std::string_view pool, TimePoint now) const {
  OfPool counts;
  MutexLock lock(mutex_);
  const auto found = pools_.find(pool);
  if (found == pools_.end()) return counts;
  for (const auto& [subscriber, buckets] : found->second) {
    Count count;
    for (const auto& bucket : buckets)
      if (bucket.due > now) count.add(bucket.count);
    if (count.records > 0) counts.emplace(subscriber, count);
  }
  return counts;
}

ParkedRecords::Count total_of(const ParkedRecords::OfPool& pool) {
  ParkedRecords::Count total;
  for (const auto& [subscriber, count] : pool) total.add(count);
  return total;
}

}  // namespace laneway::lane
