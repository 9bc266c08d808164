// Limits records and bytes a second: of one lane, or of all lanes of the process together, in fair shares.
// That of all lanes also keeps the pace of a downstream that has asked for fewer calls
// (delivery/rate/pace.h), where that is less than the rate.
//
// Who takes records, or makes an attempt again, asks for room first and charges what it took. What comes in
// is granted to those who ask, in turn (fair_turn.h): whole records, one at least. A grant stays with its
// owner until it is used up, given back (leave) or not asked for in 2 s; so nobody blocks the others, and
// what one does not want is theirs. A record that is larger than the bytes granted leaves a debt that all
// wait for.
//
// `who` is any address that is the asker's own. Threads: any; a lock that is held for nanoseconds, once or
// twice for a run of records.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <unordered_map>

#include "base/fair_turn.h"
#include "base/mutex.h"
#include "config/config.h"
#include "delivery/rate/pace.h"
#include "delivery/rate/token_bucket.h"

namespace laneway::lane {

class RateLimiter {
 public:
  using Who = const void*;
  struct Room {
    std::uint64_t records = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t bytes = std::numeric_limits<std::uint64_t>::max();

    bool none() const { return records == 0 || bytes == 0; }
    friend Room least(const Room& a, const Room& b) {
      return {std::min(a.records, b.records), std::min(a.bytes, b.bytes)};
    }
  };

  explicit RateLimiter(const config::Rate& rate)
      : has_rate_(rate.records > 0 || rate.bytes > 0),
        limited_(has_rate_),
        records_(static_cast<double>(rate.records),
                 static_cast<double>(rate.records) * to_seconds(rate.burst)),
        bytes_(static_cast<double>(rate.bytes), static_cast<double>(rate.bytes) * to_seconds(rate.burst)) {}

  /// Another rate from now on.
  void change(const config::Rate& rate, TimePoint now) EXCLUDES(mutex_);

  /// The downstream answered to a record that it is asked too often; `after`: its wish for when to go on;
  /// `again`: it gave this record the same answer the last time.
  void throttled(std::optional<Duration> after, bool again, TimePoint now) EXCLUDES(mutex_);
  /// It keeps a pace, which worked() helps to find.
  bool keeps_pace() const { return keeps_pace_.load(std::memory_order_relaxed); }
  /// So many records are done.
  void worked(std::uint64_t records, TimePoint now) EXCLUDES(mutex_);
  /// Records a second at the downstream's pace; 0: it has none, or none that is less than what comes.
  double pace(TimePoint now) EXCLUDES(mutex_);

  bool limited() const { return limited_.load(std::memory_order_relaxed); }
  /// What `who`, which wants to take records, may take now. None: it waits for its turn until it leaves.
  Room room(Who who, TimePoint now) EXCLUDES(mutex_);
  /// It has asked, and has been granted nothing yet.
  bool waits(Who who, TimePoint now) EXCLUDES(mutex_);
  void charge(Who who, TimePoint now, std::uint64_t records, std::uint64_t bytes) EXCLUDES(mutex_);
  /// It wants nothing more for now: what was granted to it is the others'.
  void leave(Who who, TimePoint now) EXCLUDES(mutex_);
  /// When it will have its turn, as far as is known.
  TimePoint ready_at(Who who, TimePoint now) EXCLUDES(mutex_);

 private:
  struct Grant {
    Room room{0, 0};
    TimePoint asked;
  };
  using Grants = std::unordered_map<Who, Grant>;

  void serve(TimePoint now) REQUIRES(mutex_);
  bool any(TimePoint now) REQUIRES(mutex_);
  bool limits_records() const REQUIRES(mutex_) { return records_.limited() || pace_.limited(); }
  double available_records(TimePoint now) REQUIRES(mutex_);
  void take_records(TimePoint now, double records) REQUIRES(mutex_);
  bool open(TimePoint now) REQUIRES(mutex_);
  void note_pace() REQUIRES(mutex_);
  void grant(Who who, TimePoint now) REQUIRES(mutex_);
  void take_back_unused(TimePoint now) REQUIRES(mutex_);
  Grants::iterator give_back(Grants::iterator grant, TimePoint now) REQUIRES(mutex_);
  double cost(double records, double bytes) const REQUIRES(mutex_);

  bool has_rate_ GUARDED_BY(mutex_);
  std::atomic<bool> limited_;
  std::atomic<bool> keeps_pace_{false};
  mutable Mutex mutex_;
  delivery::Pace pace_ GUARDED_BY(mutex_);
  delivery::TokenBucket records_ GUARDED_BY(mutex_);
  delivery::TokenBucket bytes_ GUARDED_BY(mutex_);
  FairTurn<Who> turn_ GUARDED_BY(mutex_);        // by the part of a second's rate that each has had
  Grants grants_ GUARDED_BY(mutex_);             // of all who take part
  double typical_bytes_ GUARDED_BY(mutex_) = 1;  // of a record, as charged lately
  TimePoint next_look_ GUARDED_BY(mutex_){};     // for grants that nobody uses
};

}  // namespace laneway::lane
