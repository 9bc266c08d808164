// What operators have ordered about the records that are parked in retry topics (stage/parking.h): to send
// them on at once, or to give up those of a pool or of a subscriber. An order concerns the records that were
// parked before it was given; what is parked later is not affected.
//
// Which subscriber a record is for is known only when the record comes back. So an order stands, and every
// record that it may concern is due at once. It ends when no record that was parked before it has come back
// for as long as the longest delay of the retry topics. It is in memory only: a restart forgets it, and what
// was parked stays parked. Each process follows its own orders.
//
// Ownership: one for each process. Threads: any; blocks on a short mutex only, and on nothing while no order
// stands. The time is given in. Bounded: at most `most` orders stand.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "base/time.h"

namespace laneway::lane {

struct ParkedOrder {
  std::string pool{};                       ///< whose records are given up; empty: all records are sent on
  std::optional<std::string> subscriber{};  ///< of the pool; nullopt: all
  std::string reason{};                     ///< why they are given up
  TimePoint given{};
  std::uint64_t given_up = 0;  ///< records so far

  bool gives_up() const { return !pool.empty(); }
};

class ParkedOrders {
 public:
  static constexpr std::size_t most = 64;

  /// `longest`: of the delays of the retry topics, from which records come back; zero if none do. To be
  /// called before the first order.
  void set_longest_delay(Duration longest) EXCLUDES(mutex_);
  /// Whether records come back, so that an order has an effect.
  bool followed() const EXCLUDES(mutex_);
  /// Replaces an order about the same records. Returns false if too many orders stand.
  bool give(ParkedOrder order) EXCLUDES(mutex_);

  /// Whether any order stands: without one, the next two need not be asked.
  bool any() const { return latest_.load(std::memory_order_relaxed) != TimePoint{}; }
  /// A record comes back that was parked at this time. Returns whether it is due at once.
  bool sends_on(TimePoint parked_at, TimePoint now) EXCLUDES(mutex_);
  /// Why the record is given up; nullopt if it is not. `subscriber`: empty if the pool has none.
  std::optional<std::string> gives_up(std::string_view pool, std::string_view subscriber,
                                      TimePoint parked_at) const EXCLUDES(mutex_);
  /// The record has been given up for this reason.
  void note_given_up(std::string_view pool, std::string_view subscriber, TimePoint parked_at)
      EXCLUDES(mutex_);
  /// In the order in which they were given.
  std::vector<ParkedOrder> standing(TimePoint now) EXCLUDES(mutex_);

 private:
  struct Standing {
    ParkedOrder order;
    TimePoint last_came;  // when a record that it may concern last came back
  };
  void end_old(TimePoint now) REQUIRES(mutex_);
  /// The place of the first order that gives up the record; the end if none does.
  std::size_t find(std::string_view pool, std::string_view subscriber, TimePoint parked_at) const
      REQUIRES(mutex_);

  std::atomic<TimePoint> latest_{TimePoint{}};  // when the last standing order was given; zero without one
  mutable Mutex mutex_;
  Duration longest_ GUARDED_BY(mutex_){};
  std::vector<Standing> standing_ GUARDED_BY(mutex_);
};

}  // namespace laneway::lane
