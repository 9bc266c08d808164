// What the handler talks to, shared by all lanes of the process: whether it works, whose fault a failure is,
// and how many calls it gets. All that is known of it is here: the breaker (delivery/failure/breaker.h), the
// evidence for and against records (delivery/failure/blame.h), and the guard against a flood of rejections
// (delivery/failure/flood_guard.h).
//
// Rules without failures to open on mean that there is no breaker and no doubt, until other rules come: each
// failure counts against its record. Calls are counted all the same.
//
// Threads: any. Lock-free while it is closed and nothing fails: successes are counted aside and told to the
// breaker with the next failure.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <string_view>

#include "base/fair_turn.h"
#include "base/mutex.h"
#include "delivery/failure/blame.h"
#include "delivery/failure/breaker.h"
#include "delivery/failure/call_tally.h"
#include "delivery/failure/flood_guard.h"

namespace laneway::lane {

struct DownstreamRules {
  delivery::BreakerRules breaker;
  /// A call that takes longer counts as a failure; zero: none does.
  Duration slow{};
  std::uint64_t most_rejections = 0;  ///< a second, over a minute; 0: no limit
};

/// A call that failed: which record's, what the record did before, and what the other side said.
struct FailedCall {
  delivery::RecordId record = delivery::CallWindow::nobody;
  const delivery::Blame* before = nullptr;  ///< null: the record has not failed before
  const std::string& reason;
  std::optional<Duration> after{};  ///< the downstream's wish for how long it is left alone
  std::string_view kind{};          ///< for the tally; empty: that of the reason
};

class Downstream {
 public:
  /// `name` is for people: "example.org:443", or the handler's name.
  Downstream(std::string name, DownstreamRules rules)
      : name_(std::move(name)),
        slow_(rules.slow),
        breaker_(rules.breaker),
        most_rejections_(rules.most_rejections),
        flood_guard_(rules.most_rejections) {}
  /// Other rules from now on.
  void change(DownstreamRules rules, TimePoint now) EXCLUDES(mutex_);

  bool closed() const { return closed_.load(std::memory_order_relaxed); }
  delivery::Breaker::State state() const EXCLUDES(mutex_);
  const std::string& name() const { return name_; }

  /// For people, and for metrics.
  struct Report {
    delivery::Breaker::State state{};
    std::optional<TimePoint> out_since;  ///< nothing while the breaker is closed
    std::string last_failure;            ///< in its own words
    bool has_worked = false;             ///< a call has succeeded
    bool keeps_rejected = false;         ///< so many are rejected that none of those is given up
    delivery::CallReport calls;          ///< of the last minute, or of an outage that is shorter
    delivery::CallTally::Totals totals;  ///< since the beginning
  };
  Report report(TimePoint now) EXCLUDES(mutex_);
  /// Once a second, so that the tally knows of successes when they are new, and the breaker of the time.
  void settle(TimePoint now) EXCLUDES(mutex_);

  /// How many calls `who` may begin, which has some: a hint for who submits; admit() decides. While it is not
  /// closed, those who ask have their turn one after the other, so that no record that always fails keeps the
  /// others from finding out that the downstream is back. A turn ends when a call is admitted.
  std::uint32_t room(const void* who, TimePoint now) EXCLUDES(mutex_);
  /// `who` has nothing to call for.
  void leave(const void* who) EXCLUDES(mutex_);
  /// Calls of `who` are about to begin. False: none of them may.
  bool admit(const void* who, std::uint32_t calls, TimePoint now) EXCLUDES(mutex_);

  /// Calls that worked, each after about `took`: the record is done, or the other side found it wrong.
  void worked(std::uint32_t calls, Duration took, TimePoint now) EXCLUDES(mutex_);
  void failed(const FailedCall& call, TimePoint now) EXCLUDES(mutex_);
  /// Records are done, whatever the number of their calls: they outweigh rejections.
  void done(std::uint32_t records) { count(0, records); }
  /// Both of these at once, for work without a failure. False: nothing was counted, as it is not closed, or
  /// the calls were slow.
  bool all_worked(std::uint32_t calls, std::uint32_t records, Duration took) {
    if (!closed() || is_slow(took)) return false;
    count(calls, records);
    return true;
  }
  /// A call was answered "too often": a failed call for people, and none for the breaker. ended() follows.
  void throttled(const std::string& reason, TimePoint now) EXCLUDES(mutex_);
  /// Calls that were stopped or not begun.
  void ended(std::uint32_t calls) EXCLUDES(mutex_);
  /// A record that is done now had failed so often before, though the downstream was not out.
  void recovered(std::uint32_t failures) EXCLUDES(mutex_);

  /// What follows for a record whose call failed, which failed() was told before. See delivery::Blame.
  delivery::Blame::Step judge(delivery::Blame& blame, const delivery::FailedAttempt& attempt,
                              const delivery::FailureRules& rules) EXCLUDES(mutex_);
  delivery::Blame::Step reconsider(delivery::Blame& blame, const delivery::FailureRules& rules, TimePoint now,
                                   double random) EXCLUDES(mutex_);
  /// Gives back the attempts that an outage which began later has made void.
  void give_back(delivery::Blame& blame) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    blame.give_back(breaker_);
  }
  /// Whether a record that was rejected may be given up, or there are too many of them.
  bool admits_rejection(TimePoint now) EXCLUDES(mutex_);

 private:
  bool is_slow(Duration took) const {
    const auto limit = slow_.load(std::memory_order_relaxed);
    return limit > Duration::zero() && took > limit;
  }
  void count(std::uint32_t calls, std::uint32_t records) {
    counted_.fetch_add(std::uint64_t{records} << 32 | calls, std::memory_order_relaxed);
  }
  void fail(const FailedCall& call, TimePoint now) REQUIRES(mutex_);
  void count_successes(TimePoint now) REQUIRES(mutex_);
  void log_change(delivery::Breaker::State before, const std::string& reason, TimePoint now) REQUIRES(mutex_);

  const std::string name_;
  std::atomic<Duration> slow_;
  std::atomic<bool> closed_{true};
  // Not yet told to the breaker: calls that worked; and, in the upper half, records that are done. Apart from
  // what all workers read.
  alignas(64) std::atomic<std::uint64_t> counted_{0};
  alignas(64) mutable Mutex mutex_;
  std::uint64_t done_ GUARDED_BY(mutex_) = 0;  // records
  delivery::Breaker breaker_ GUARDED_BY(mutex_);
  std::uint64_t most_rejections_ GUARDED_BY(mutex_);
  delivery::FloodGuard flood_guard_ GUARDED_BY(mutex_);
  std::string last_failure_ GUARDED_BY(mutex_);
  delivery::CallTally tally_ GUARDED_BY(mutex_);
  FairTurn<const void*> turn_ GUARDED_BY(mutex_);
};

}  // namespace laneway::lane
