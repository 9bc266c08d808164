// How many records of each pool and subscriber wait in retry topics because they were parked
// (stage/parking.h), and since when the oldest of them waits. Each record is counted by the process that
// parked it last, until the record is due: from then on, the lag of the retry topic counts it. So the sum
// over all processes is what waits; and a process that has started again counts everything after one round of
// the longest delay.
//
// Records with about the same due time are counted together: a pool or subscriber needs no more memory for
// many records than for some hundred. Of each pool, up to 256 subscribers are counted apart, and those beyond
// together.
//
// Ownership: one for each process. Threads: any; blocks on a short mutex only. The time is given in. Throws
// nothing except std::bad_alloc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "base/time.h"

namespace laneway::lane {

class ParkedRecords {
 public:
  static constexpr std::size_t most_subscribers = 256;
  /// The name under which the subscribers beyond these are counted: the same as in KeyedLimits.
  static constexpr std::string_view others = "";

  struct Count {
    std::uint64_t records = 0;
    TimePoint oldest =
        TimePoint::max();  ///< since when the oldest waits, in any topic; max() without records

    void add(const Count& other);
  };
  /// By subscriber; in a pool without subscribers, all are under the empty name.
  using OfPool = std::map<std::string, Count, std::less<>>;

  /// A retry topic has acknowledged a record that has waited `since` and will be due after `delay`.
  void add(std::string_view pool, std::string_view subscriber, TimePoint since, Duration delay, TimePoint now)
      EXCLUDES(mutex_);
  /// Every record that was parked is due now.
  void all_due() EXCLUDES(mutex_);

  /// Of the pool; empty if none of its records is known to be parked.
  OfPool of_pool(std::string_view pool, TimePoint now) const EXCLUDES(mutex_);

 private:
  struct Bucket {
    TimePoint due;
    Count count;
  };
  /// In the order of the due times.
  using Buckets = std::vector<Bucket>;
  using Subscribers = std::map<std::string, Buckets, std::less<>>;

  static Buckets& buckets_of(Subscribers& subscribers, std::string_view subscriber, TimePoint now);

  mutable Mutex mutex_;
  std::map<std::string, Subscribers, std::less<>> pools_ GUARDED_BY(mutex_);
};

/// Of all subscribers together.
ParkedRecords::Count total_of(const ParkedRecords::OfPool& pool);

}  // namespace laneway::lane
