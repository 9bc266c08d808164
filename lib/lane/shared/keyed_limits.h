// The limits and the breaker of each subscriber, tenant, … of a named pool (config::Each): of all records
// with the same text. All lanes share them.
//
// Ownership: the service owns a KeyedLimits for each pool that has `each`; lanes share its subscribers.
// Threads: any; a subscriber's parts have locks of their own. Nothing blocks. Bounded: subscribers that no
// lane uses are forgotten once there are many; if all of 10,000 are in use, the further texts share one.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "config/pools.h"
#include "lane/shared/downstream.h"
#include "lane/shared/places.h"
#include "lane/shared/pool_outages.h"
#include "lane/shared/rate_limiter.h"

namespace laneway::lane {

class KeyedLimit {
 public:
  /// `pool`: for messages, as `name`.
  KeyedLimit(std::string text, std::string name, const DownstreamRules& rules, const config::Each& each,
             std::string pool = {})
      : downstream(std::move(name), rules, Downstream::Calls::of_subscriber, std::move(pool)),
        rate(each.rate),
        places(each.workers),
        text_(std::move(text)) {}

  const std::string& text() const { return text_; }

  /// Records that wait in the lanes.
  struct Waiting {
    std::uint64_t first = 0;  ///< for their first attempt
    std::uint64_t next = 0;   ///< for their next attempt
  };
  /// As the lanes have last noted.
  Waiting waiting() const {
    return {first_.load(std::memory_order_relaxed), next_.load(std::memory_order_relaxed)};
  }
  /// A lane had `before` of these, and has `now`.
  void note_waiting(const Waiting& before, const Waiting& now) {
    first_.fetch_add(now.first - before.first, std::memory_order_relaxed);
    next_.fetch_add(now.next - before.next, std::memory_order_relaxed);
  }

  /// Records in the pools of the lanes.
  struct AtWork {
    std::uint64_t queued = 0;   ///< each has a place, and waits for a worker
    std::uint64_t running = 0;  ///< with a worker
  };
  /// The same two for these.
  AtWork at_work() const {
    return {queued_.load(std::memory_order_relaxed), running_.load(std::memory_order_relaxed)};
  }
  void note_at_work(const AtWork& before, const AtWork& now) {
    queued_.fetch_add(now.queued - before.queued, std::memory_order_relaxed);
    running_.fetch_add(now.running - before.running, std::memory_order_relaxed);
  }

  /// The limits keep records waiting, in some lane.
  void note_kept(TimePoint now) {
    const auto before = kept_at_.exchange(now, std::memory_order_relaxed);
    if (now - before > pause || before == TimePoint{}) kept_since_.store(now, std::memory_order_relaxed);
  }
  /// Since when the limits have kept records waiting, at least in each quarter of an hour; zero if never.
  TimePoint kept_since() const { return kept_since_.load(std::memory_order_relaxed); }

  Downstream downstream;
  RateLimiter rate;
  Places places;

 private:
  /// Parked records come back each ten minutes, and find the limits free in between.
  static constexpr Duration pause = std::chrono::minutes(15);

  const std::string text_;
  std::atomic<TimePoint> kept_at_{TimePoint{}};
  std::atomic<TimePoint> kept_since_{TimePoint{}};
  std::atomic<std::uint64_t> first_{0};  // of Waiting
  std::atomic<std::uint64_t> next_{0};
  std::atomic<std::uint64_t> queued_{0};  // of AtWork
  std::atomic<std::uint64_t> running_{0};
};

class KeyedLimits {
 public:
  static constexpr std::size_t most = 10000;

  /// `pool`: for messages.
  KeyedLimits(std::string pool, DownstreamRules rules, config::Each each)
      : pool_(std::move(pool)), rules_(rules), each_(std::move(each)) {}

  const config::Selector& by() const { return each_.by; }
  std::shared_ptr<KeyedLimit> find(std::string_view text) EXCLUDES(mutex_);
  /// Replaces the limits and the rules of all subscribers; takes effect immediately.
  void change(const DownstreamRules& rules, const config::Each& each, TimePoint now) EXCLUDES(mutex_);
  /// To be called once a second (Downstream::settle).
  void settle(TimePoint now) EXCLUDES(mutex_);
  std::vector<std::shared_ptr<KeyedLimit>> all() const EXCLUDES(mutex_);

  /// When any subscriber last answered a record as done, in any lane.
  TimePoint worked_at() const { return worked_at_.load(std::memory_order_relaxed); }
  void note_worked(TimePoint at) EXCLUDES(mutex_) {
    const auto before = worked_at_.exchange(at, std::memory_order_relaxed);
    if (before == TimePoint{} || failing_.load(std::memory_order_relaxed)) end_outage(at);
  }
  /// A call of the subscriber has failed. `local`: because of a fault on this side.
  void note_failed(const KeyedLimit& subscriber, bool local, TimePoint at) EXCLUDES(mutex_);
  /// PoolOutages::has_waited.
  bool has_waited(Duration age, Duration longest, TimePoint now) const EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return outages_.has_waited(age, longest, worked_at(), now);
  }

 private:
  void end_outage(TimePoint at) EXCLUDES(mutex_);
  void forget_unused() REQUIRES(mutex_);
  std::shared_ptr<KeyedLimit> make(std::string_view text) REQUIRES(mutex_);

  const std::string pool_;
  std::atomic<TimePoint> worked_at_{TimePoint{}};
  std::atomic<bool> failing_{false};  // a call has failed since
  mutable Mutex mutex_;
  PoolOutages outages_ GUARDED_BY(mutex_);
  DownstreamRules rules_ GUARDED_BY(mutex_);
  config::Each each_;  // `by` is constant; the limits are guarded by the mutex
  std::map<std::string, std::shared_ptr<KeyedLimit>, std::less<>> subscribers_ GUARDED_BY(mutex_);
};

}  // namespace laneway::lane
