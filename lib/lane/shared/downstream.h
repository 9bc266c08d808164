// What the handler calls, shared by all lanes of the process: whether the downstream works, whose fault a
// failure is, and how many calls the downstream gets. Everything that is known of the downstream is here: the
// breaker (delivery/failure/breaker.h), the evidence for and against records (delivery/failure/blame.h), and
// the guard against a flood of rejections (delivery/failure/flood_guard.h).
//
// If the rules name no number of failures to open on, there is no breaker and no doubt until the rules
// change: each failure counts against its record. Calls are still counted.
//
// Threads: any. Lock-free while the breaker is closed and nothing fails: successes are counted apart, and the
// breaker gets them with the next failure.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/fair_turn.h"
#include "base/histogram.h"
#include "base/mutex.h"
#include "delivery/failure/blame.h"
#include "delivery/failure/breaker.h"
#include "delivery/failure/call_tally.h"
#include "delivery/failure/flood_guard.h"
#include "delivery/failure/overtaken_calls.h"

namespace laneway::telemetry {
class Field;
}

namespace laneway::lane {

struct DownstreamRules {
  delivery::BreakerRules breaker;
  /// A call that takes longer counts as a failure; zero disables the limit.
  Duration slow{};
  std::uint64_t most_rejections = 0;  ///< per second, over a minute; 0: no limit
};

/// A failed call: the record, the record's earlier failures, and what the downstream answered.
struct FailedCall {
  delivery::RecordId record = delivery::CallWindow::nobody;
  const delivery::Blame* before = nullptr;  ///< null: the record has not failed before
  bool suspect = false;                     ///< handler::Item::suspect
  Duration took{};
  const std::string& reason;
  std::optional<Duration> after{};  ///< how long the downstream asked to be left alone
  std::string_view kind{};          ///< for the tally; if empty, the kind is derived from the reason
};

class Downstream {
 public:
  /// Whose calls these are, which is what an outage stops: those of all lanes, of a named pool, or of one of
  /// the subscribers of a pool.
  enum class Calls : std::uint8_t { of_service, of_pool, of_subscriber };

  /// `name` and `pool` are for messages: "example.org:443", or the handler's name; empty without named pools.
  Downstream(std::string name, DownstreamRules rules, Calls calls = Calls::of_service, std::string pool = {})
      : name_(std::move(name)),
        pool_(std::move(pool)),
        calls_(calls),
        slow_(rules.slow > Duration::zero() ? rules.slow : Duration::max()),
        breaker_(rules.breaker),
        most_rejections_(rules.most_rejections),
        flood_guard_(rules.most_rejections) {}
  /// Replaces the rules; takes effect immediately.
  void change(DownstreamRules rules, TimePoint now) EXCLUDES(mutex_);

  bool closed() const { return closed_.load(std::memory_order_relaxed); }
  delivery::Breaker::State state() const EXCLUDES(mutex_);
  /// Nullopt while the breaker is closed.
  std::optional<TimePoint> out_since() const EXCLUDES(mutex_);
  /// When the last outage ended or, if it goes on, began; zero if there was none.
  TimePoint back_since() const EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return breaker_.back_since();
  }
  const std::string& name() const { return name_; }

  /// For status and metrics.
  struct Report {
    delivery::Breaker::State state{};
    std::optional<TimePoint> out_since;  ///< nullopt while the breaker is closed
    std::string last_failure;            ///< as the downstream or the client worded it
    bool has_worked = false;             ///< a call has succeeded
    /// There are so many rejections that no rejected record is dead-lettered.
    bool keeps_rejected = false;
    delivery::CallReport calls;          ///< of the last minute, or of the outage if that is shorter
    delivery::CallTally::Totals totals;  ///< since the service started
  };
  Report report(TimePoint now) EXCLUDES(mutex_);
  /// To be called once a second: gives the tally the new successes, and the breaker the time.
  void settle(TimePoint now) EXCLUDES(mutex_);

  /// How many calls `who` may begin. `who` must have calls to make. This is a hint for the caller that
  /// submits records; admit() decides. While the breaker is not closed, the callers take turns, so that a
  /// record that always fails cannot keep the others from finding out that the downstream is back. A turn
  /// ends when a call is admitted. `only_suspects`: all calls would be of suspects; other callers come first.
  std::uint32_t room(const void* who, TimePoint now, bool only_suspects = false) EXCLUDES(mutex_);
  /// `who` has no calls to make.
  void leave(const void* who) EXCLUDES(mutex_);
  /// A task of `who` is about to begin so many calls, unless false is returned.
  bool admit(const void* who, std::uint32_t calls, TimePoint now) EXCLUDES(mutex_);
  /// admit() without the time; false if the breaker is not closed.
  bool admit_while_closed() {
    if (!closed()) return false;
    tasks_.fetch_add(1, std::memory_order_relaxed);
    return true;
  }
  /// A task that was admitted has told the results of its calls.
  void task_ended() { tasks_.fetch_sub(1, std::memory_order_relaxed); }
  /// When a call last worked, in any lane; zero before the first.
  TimePoint worked_at() const { return worked_at_.load(std::memory_order_relaxed); }
  /// The number of tasks that were admitted and have not ended.
  std::uint32_t running() const { return tasks_.load(std::memory_order_relaxed); }

  /// Calls that worked, each in about `took`: the record is done, or the downstream rejected it.
  void worked(std::uint32_t calls, Duration took, TimePoint now) EXCLUDES(mutex_);
  void failed(const FailedCall& call, TimePoint now) EXCLUDES(mutex_);
  /// Records are done, whatever the number of their calls; done records outweigh rejections.
  void done(std::uint32_t records) {
    counted_.fetch_add(std::uint64_t{records} << 32, std::memory_order_relaxed);
  }
  /// worked() and done() together, for calls without a failure. Returns false if nothing was counted, because
  /// the breaker is not closed or the calls were slow.
  bool all_worked(std::uint32_t calls, std::uint32_t records, Duration took, TimePoint ended) {
    if (!closed() || took > slow_.load(std::memory_order_relaxed)) return false;
    worked_at_.store(ended, std::memory_order_relaxed);
    const auto began = ended - took;
    if (began > worked_since_.load(std::memory_order_relaxed))
      worked_since_.store(began, std::memory_order_relaxed);
    times_.record(took);
    counted_.fetch_add(std::uint64_t{records} << 32 | calls, std::memory_order_relaxed);
    return true;
  }
  /// A call was answered "too often": counted as failed for people, and not counted by the breaker. ended()
  /// follows.
  void throttled(const std::string& reason, TimePoint now) EXCLUDES(mutex_);
  /// Calls that were stopped or not begun.
  void ended(std::uint32_t calls) EXCLUDES(mutex_);
  /// A record that is done now had failed this often before, although the downstream was not out.
  void recovered(std::uint32_t failures) EXCLUDES(mutex_);

  /// Decides what follows for a record whose call failed; failed() must have been called before. See
  /// delivery::Blame.
  delivery::Blame::Step judge(delivery::Blame& blame, const delivery::FailedAttempt& attempt,
                              const delivery::FailureRules& rules) EXCLUDES(mutex_);
  delivery::Blame::Step reconsider(delivery::Blame& blame, const delivery::FailureRules& rules, TimePoint now,
                                   double random) EXCLUDES(mutex_);
  /// Whether the record failed while the downstream was not out.
  bool is_suspect(const delivery::Blame& blame) const EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return blame.suspect(breaker_);
  }
  /// The number of outages, including the present one.
  std::uint64_t outages() const EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return breaker_.outages();
  }
  /// Gives back the attempts that a later outage has made void.
  void give_back(delivery::Blame& blame) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    blame.give_back(breaker_);
  }
  /// How long a record takes, as the last lane to measure has found; zero before the first. For a lane that
  /// has to estimate before it has finished a record of its own.
  Duration service_time() const { return service_time_.load(std::memory_order_relaxed); }
  void note_service_time(Duration measured) { service_time_.store(measured, std::memory_order_relaxed); }
  /// Whether a rejected record may be dead-lettered; false if there are too many rejections.
  bool admits_rejection(TimePoint now) EXCLUDES(mutex_);

 private:
  void forget_old_times(TimePoint now) REQUIRES(mutex_);
  bool was_overtaken(const FailedCall& call, TimePoint now) REQUIRES(mutex_);
  void fail(const FailedCall& call, TimePoint now) REQUIRES(mutex_);
  void count_successes(TimePoint now) REQUIRES(mutex_);
  /// Logs a change of the state since `before`, with `cause` as a field of the line.
  void log_change(delivery::Breaker::State before, const telemetry::Field& cause, TimePoint now)
      REQUIRES(mutex_);

  const std::string name_;
  const std::string pool_;
  const Calls calls_;
  std::atomic<Duration> slow_;  // a longer call counts as a failure
  std::atomic<bool> closed_{true};
  std::atomic<Duration> service_time_{Duration::zero()};
  // Not counted by the breaker yet: calls that worked and, in the upper half, records that are done. On a
  // cache line of its own, because all workers read the fields above.
  alignas(64) std::atomic<std::uint64_t> counted_{0};
  std::atomic<std::uint32_t> tasks_{0};
  // When the last call that worked ended, when the latest one began, and how long calls that worked took.
  std::atomic<TimePoint> worked_at_{TimePoint{}};
  std::atomic<TimePoint> worked_since_{TimePoint{}};
  Histogram times_;
  alignas(64) mutable Mutex mutex_;
  std::uint64_t done_ GUARDED_BY(mutex_) = 0;  // records
  delivery::Breaker breaker_ GUARDED_BY(mutex_);
  std::uint64_t most_rejections_ GUARDED_BY(mutex_);
  delivery::FloodGuard flood_guard_ GUARDED_BY(mutex_);
  std::string last_failure_ GUARDED_BY(mutex_);
  delivery::CallTally tally_ GUARDED_BY(mutex_);
  delivery::OvertakenCalls overtaken_ GUARDED_BY(mutex_);
  // Of times_: calls before the older snapshot no longer count.
  Histogram::Snapshot older_times_ GUARDED_BY(mutex_);
  Histogram::Snapshot newer_times_ GUARDED_BY(mutex_);
  TimePoint newer_times_at_ GUARDED_BY(mutex_){};
  FairTurn<const void*> turn_ GUARDED_BY(mutex_);
  FairTurn<const void*> turn_of_suspects_ GUARDED_BY(mutex_);
};

}  // namespace laneway::lane
