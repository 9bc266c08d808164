// Limits records and bytes per second: of one lane, or of all lanes of the process together, in fair shares.
// The limiter of all lanes also keeps the pace of a downstream that has asked for fewer calls
// (delivery/rate/pace.h), where the pace is less than the rate.
//
// A lane asks for room before it takes records or repeats an attempt, and then charges what it took. New room
// is granted to the askers in turn (fair_turn.h): whole records, at least one. A grant stays with its owner
// until the grant is used up, given back (leave) or not asked for in 2 s; so no asker blocks the others, and
// room that one does not want goes to the others. A record that is larger than the granted bytes leaves a
// debt that all askers wait for.
//
// `who` is any address that belongs to the asker alone. Threads: any; a lock is held for nanoseconds, once or
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

  /// Replaces the rate; takes effect immediately.
  void change(const config::Rate& rate, TimePoint now) EXCLUDES(mutex_);

  /// The downstream answered a record with "too often". `after`: how long the downstream asked to wait.
  /// `again`: the downstream gave the same answer to the previous attempt at this record.
  void throttled(std::optional<Duration> after, bool again, TimePoint now) EXCLUDES(mutex_);
  /// The downstream has a pace, which worked() helps to find.
  bool keeps_pace() const { return keeps_pace_.load(std::memory_order_relaxed); }
  /// This many records are done.
  void worked(std::uint64_t records, TimePoint now) EXCLUDES(mutex_);
  /// Records per second at the downstream's pace; 0 if there is no pace, or if fewer records arrive than the
  /// pace allows.
  double pace(TimePoint now) EXCLUDES(mutex_);

  /// About how many records may be taken by all askers together in this time.
  std::uint64_t most_within(Duration time, TimePoint now) EXCLUDES(mutex_);

  bool limited() const { return limited_.load(std::memory_order_relaxed); }
  /// How much `who` may take now. If the room is none, `who` waits for its turn until it leaves.
  Room room(Who who, TimePoint now) EXCLUDES(mutex_);
  /// Whether `who` has asked and has been granted nothing yet.
  bool waits(Who who, TimePoint now) EXCLUDES(mutex_);
  void charge(Who who, TimePoint now, std::uint64_t records, std::uint64_t bytes) EXCLUDES(mutex_);
  /// `who` wants nothing more for now; its grant goes to the others.
  void leave(Who who, TimePoint now) EXCLUDES(mutex_);
  /// When `who` will have its turn, as far as is known.
  TimePoint ready_at(Who who, TimePoint now) EXCLUDES(mutex_);

 private:
  struct Grant {
    Room room{0, 0};
    TimePoint asked;
  };
  using Grants = std::unordered_map<Who, Grant>;

  Room ask(Who who, TimePoint now) REQUIRES(mutex_);
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
  // Ordered by the part of a second's rate that each asker has used.
  FairTurn<Who> turn_ GUARDED_BY(mutex_);
  Grants grants_ GUARDED_BY(mutex_);             // of all askers
  double typical_bytes_ GUARDED_BY(mutex_) = 1;  // of a record, by recent charges
  TimePoint next_look_ GUARDED_BY(mutex_){};     // for unused grants
};

}  // namespace laneway::lane
