// Limits records and bytes a second: of one lane, or of all lanes of the process together.
//
// Who takes records, or makes an attempt again, asks for room first and charges what it took. Threads: any; a
// lock that is held for nanoseconds.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>

#include "base/mutex.h"
#include "config/config.h"
#include "delivery/token_bucket.h"

namespace laneway::lane {

class RateLimiter {
 public:
  struct Room {
    std::uint64_t records = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t bytes = std::numeric_limits<std::uint64_t>::max();

    bool none() const { return records == 0 || bytes == 0; }
    friend Room least(const Room& a, const Room& b) {
      return {std::min(a.records, b.records), std::min(a.bytes, b.bytes)};
    }
  };

  explicit RateLimiter(const config::Rate& rate)
      : limited_(rate.records > 0 || rate.bytes > 0),
        records_(static_cast<double>(rate.records),
                 static_cast<double>(rate.records) * to_seconds(rate.burst)),
        bytes_(static_cast<double>(rate.bytes), static_cast<double>(rate.bytes) * to_seconds(rate.burst)) {}

  /// Another rate from now on.
  void change(const config::Rate& rate, TimePoint now) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    const double burst = to_seconds(rate.burst);
    records_.change(now, static_cast<double>(rate.records), static_cast<double>(rate.records) * burst);
    bytes_.change(now, static_cast<double>(rate.bytes), static_cast<double>(rate.bytes) * burst);
    limited_.store(rate.records > 0 || rate.bytes > 0, std::memory_order_relaxed);
  }

  bool limited() const { return limited_.load(std::memory_order_relaxed); }
  Room room(TimePoint now) EXCLUDES(mutex_) {
    Room room;
    MutexLock lock(mutex_);
    if (records_.limited()) room.records = whole(records_.available(now));
    if (bytes_.limited()) room.bytes = whole(bytes_.available(now));
    return room;
  }
  void charge(TimePoint now, std::uint64_t records, std::uint64_t bytes) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    records_.take(now, static_cast<double>(records));
    bytes_.take(now, static_cast<double>(bytes));
  }
  /// When there will be room again.
  TimePoint ready_at(TimePoint now) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return std::max(records_.ready_at(now), bytes_.ready_at(now));
  }

 private:
  static std::uint64_t whole(double tokens) { return tokens < 1 ? 0 : static_cast<std::uint64_t>(tokens); }

  std::atomic<bool> limited_;
  Mutex mutex_;
  delivery::TokenBucket records_ GUARDED_BY(mutex_);
  delivery::TokenBucket bytes_ GUARDED_BY(mutex_);
};

}  // namespace laneway::lane
