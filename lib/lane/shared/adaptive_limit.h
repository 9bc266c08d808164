// The limit of concurrency of one downstream that follows the downstream (delivery/limit), and the permits by
// which all lanes keep it (pool/permits.h).
//
// Ownership: the service's; it outlives the lanes. Threads: any. A lock is held for each finished claim while
// the limit is adaptive, and there is no AdaptiveLimit otherwise. Nothing blocks; permits are raised without
// the lock, because a pool may begin work on the thread that raises them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "base/mutex.h"
#include "config/pools.h"
#include "delivery/limit/concurrency_limit.h"
#include "pool/permits.h"

namespace laneway::lane {

class AdaptiveLimit {
 public:
  /// `settings` is enabled; `max`: the most calls at a time.
  AdaptiveLimit(const config::AdaptiveLimitSettings& settings, std::uint32_t max);

  pool::Permits& permits() { return permits_; }
  std::uint32_t limit() const { return permits_.limit(); }

  /// Calls have ended while the downstream worked. `in_flight` of the calls is filled in here.
  void ended(delivery::EndedCalls calls, TimePoint now) EXCLUDES(mutex_);
  /// Calls have ended while the breaker was not closed: nothing is learned from them, except that the breaker
  /// has opened.
  void ended_in_outage(TimePoint now) EXCLUDES(mutex_);
  /// Whether a 429 may be left to the limit, which can still fall.
  bool can_fall() const EXCLUDES(mutex_);
  /// Replaces the bounds; takes effect immediately.
  void change(const config::AdaptiveLimitSettings& settings, std::uint32_t max, TimePoint now)
      EXCLUDES(mutex_);

  /// For status and metrics.
  struct Report {
    std::uint32_t limit = 0;
    std::uint32_t min = 0;
    std::uint32_t max = 0;
    std::uint32_t in_flight = 0;
    std::string why;         ///< of the last change, in words; empty if the limit has not moved
    std::uint32_t from = 0;  ///< the limits before and after that change, which was no probe
    std::uint32_t to = 0;
    std::optional<TimePoint> moved;
    std::array<std::uint64_t, delivery::limit_reasons.size()> changes{};  ///< by LimitReason
  };
  Report report() const EXCLUDES(mutex_);

 private:
  void apply(const std::optional<delivery::LimitChange>& change, TimePoint now) REQUIRES(mutex_);
  void follow() EXCLUDES(mutex_);

  pool::Permits permits_;
  mutable Mutex mutex_;
  delivery::ConcurrencyLimit limit_ GUARDED_BY(mutex_);
  bool out_ GUARDED_BY(mutex_) = false;
  Report report_ GUARDED_BY(mutex_);  // of the changes; report() adds the limit and its use
};

}  // namespace laneway::lane
