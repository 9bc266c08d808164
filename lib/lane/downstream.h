// The breaker of what the handler talks to, shared by all lanes of the process.
//
// Rules without failures to open on mean that there is no breaker, until other rules come.
//
// Threads: any. Lock-free while it is closed and nothing fails: successes are counted aside and told to the
// breaker with the next failure.
#pragma once

#include <atomic>
#include <optional>
#include <string>

#include "base/fair_turn.h"
#include "base/mutex.h"
#include "delivery/breaker.h"

namespace laneway::lane {

class Downstream {
 public:
  /// `name` is for people: "example.org:443", or the handler's name. `slow`: a call that takes longer counts
  /// as a failure; zero: none does.
  Downstream(std::string name, delivery::BreakerRules rules, Duration slow)
      : name_(std::move(name)), watches_(rules.failures > 0), slow_(slow), breaker_(rules) {}
  /// Other rules from now on.
  void change(delivery::BreakerRules rules, Duration slow, TimePoint now) EXCLUDES(mutex_);

  /// There is a breaker.
  bool watches() const { return watches_.load(std::memory_order_relaxed); }
  bool closed() const { return closed_.load(std::memory_order_relaxed); }
  delivery::Breaker::State state() const EXCLUDES(mutex_);
  const std::string& name() const { return name_; }
  /// Why it is not closed, in the words of the last failure.
  std::string last_failure() const EXCLUDES(mutex_);

  /// How many calls `who` may begin, which has some: a hint for who submits; admit() decides. While it is not
  /// closed, those who ask have their turn one after the other, so that no record that always fails keeps the
  /// others from finding out that the downstream is back. A turn ends when a call is admitted.
  std::uint32_t room(const void* who, TimePoint now) EXCLUDES(mutex_);
  /// `who` has nothing to call for.
  void leave(const void* who) EXCLUDES(mutex_);
  /// Calls of `who` are about to begin. False: none of them may.
  bool admit(const void* who, std::uint32_t calls, TimePoint now) EXCLUDES(mutex_);

  /// Calls that were answered, by the downstream itself, each after about `took`.
  void answered(std::uint32_t calls, Duration took, TimePoint now) EXCLUDES(mutex_);
  /// Calls that were stopped because their time was over, each after about `took`: slow ones if there is a
  /// limit and it is beyond that, else they say nothing of the downstream.
  void timed_out(std::uint32_t calls, Duration took, TimePoint now) EXCLUDES(mutex_);
  void failed(const std::string& reason, std::optional<Duration> after, TimePoint now) EXCLUDES(mutex_);
  /// Calls that were stopped or not begun.
  void ended(std::uint32_t calls) EXCLUDES(mutex_);

 private:
  bool is_slow(Duration took) const;
  void fail(const std::string& reason, std::optional<Duration> after, TimePoint now) REQUIRES(mutex_);
  void log_change(delivery::Breaker::State before, const std::string& reason) REQUIRES(mutex_);

  const std::string name_;
  std::atomic<bool> watches_;
  std::atomic<Duration> slow_;
  std::atomic<bool> closed_{true};
  std::atomic<std::uint32_t> successes_{0};  // not yet told to the breaker
  mutable Mutex mutex_;
  delivery::Breaker breaker_ GUARDED_BY(mutex_);
  std::string last_failure_ GUARDED_BY(mutex_);
  FairTurn<const void*> turn_ GUARDED_BY(mutex_);
};

}  // namespace laneway::lane
