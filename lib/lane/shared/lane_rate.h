// The rates at which a lane takes records, or a line gives them to its pool: an own one (lanes.rate), and the
// rate of the whole process (rate, or the pace of a downstream), of which the lane has a fair share.
//
// Ownership: the lane's or the line's; the rate of the process outlives this. Threads: the loop's; the rate
// of the process is shared by threads and has a lock, which is taken once for a run of records.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "config/limits.h"
#include "lane/shared/rate_limiter.h"

namespace laneway::lane {

class LaneRate {
 public:
  /// `shared`: null if there is no limit of the process.
  explicit LaneRate(RateLimiter* shared, const config::Rate& own = {}) : shared_(shared), own_(own) {}

  void change(const config::Rate& own, TimePoint now) { own_.change(own, now); }
  bool limited() const { return own_.limited() || (shared_ != nullptr && shared_->limited()); }
  /// How much may be taken now; if none, the lane waits for its turn.
  RateLimiter::Room room(TimePoint now) {
    RateLimiter::Room room;
    for (auto* rate : limits())
      if (rate != nullptr && !room.none()) room = least(room, rate->room(this, now));
    return room;
  }
  bool waits(TimePoint now) {
    bool waits = false;
    for (auto* rate : limits()) waits = waits || (rate != nullptr && rate->waits(this, now));
    return waits;
  }
  /// New records are taken.
  void charge(std::uint64_t records, std::uint64_t bytes, TimePoint now) {
    if (records > 0) new_ones_turn_ = false;
    for (auto* rate : limits())
      if (rate != nullptr) rate->charge(this, now, records, bytes);
  }
  /// A failed record gets its next attempt.
  void charge_failed(std::uint64_t bytes, TimePoint now) {
    for (auto* rate : limits())
      if (rate != nullptr) rate->charge(this, now, 1, bytes);
  }
  /// The lane wants nothing for now; its share goes to the other lanes.
  void leave(TimePoint now) {
    for (auto* rate : limits())
      if (rate != nullptr) rate->leave(this, now);
  }
  TimePoint ready_at(TimePoint now) {
    auto at = now;
    for (auto* rate : limits())
      if (rate != nullptr) at = std::max(at, rate->ready_at(this, now));
    return at;
  }
  /// Whether the downstream has reported too many calls, and its pace is kept.
  bool keeps_pace() const { return shared_ != nullptr && shared_->keeps_pace(); }
  /// At the pace of a downstream, failed records and new ones take turns. Otherwise a few records that are
  /// always answered "too often" would use all the calls of a slow pace, and nothing could show that others
  /// work. The caller knows whether there are new records.
  bool turn_of_new() const { return new_ones_turn_ && keeps_pace() && shared_->limited(); }
  void took_failed() { new_ones_turn_ = true; }

 private:
  /// Those that limit now, the own one first; null for one that does not.
  std::array<RateLimiter*, 2> limits() {
    return {own_.limited() ? &own_ : nullptr, shared_ != nullptr && shared_->limited() ? shared_ : nullptr};
  }

  RateLimiter* const shared_;
  RateLimiter own_;
  bool new_ones_turn_ = false;
};

}  // namespace laneway::lane
