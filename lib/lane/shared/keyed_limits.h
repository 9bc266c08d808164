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

  Downstream downstream;
  RateLimiter rate;
  Places places;

 private:
  const std::string text_;
  std::atomic<std::uint64_t> first_{0};  // of Waiting
  std::atomic<std::uint64_t> next_{0};
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
  void note_worked(TimePoint at) { worked_at_.store(at, std::memory_order_relaxed); }

 private:
  void forget_unused() REQUIRES(mutex_);
  std::shared_ptr<KeyedLimit> make(std::string_view text) REQUIRES(mutex_);

  const std::string pool_;
  std::atomic<TimePoint> worked_at_{TimePoint{}};
  mutable Mutex mutex_;
  DownstreamRules rules_ GUARDED_BY(mutex_);
  config::Each each_;  // `by` is constant; the limits are guarded by the mutex
  std::map<std::string, std::shared_ptr<KeyedLimit>, std::less<>> subscribers_ GUARDED_BY(mutex_);
};

}  // namespace laneway::lane
