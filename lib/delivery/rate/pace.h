// How many calls per second a downstream gets after it has reported too many calls (HTTP 429).
//
// Such an answer means "slower", not "out". The first such answer starts the count of calls that work. While
// such answers continue, the pace becomes 0.7 of the calls that recently worked per second, at least one per
// second, and no call begins before the time that the downstream asked for (Retry-After) is over. Each second
// without such an answer raises the pace by a tenth, and by three tenths after ten such seconds, so that a
// limit that was lifted is found soon (additive-increase/multiplicative-decrease, as in TCP, but in shares).
// If nothing worked at all, nothing is known of the limit: then each such second of the first ten doubles the
// pace. A pace that has kept no caller waiting for 30 seconds ends: then calls are unlimited, and the pace
// need not be asked.
//
// Limits of some records, such as those of one customer, change nothing for the others: while calls work,
// such answers count only if they are more than one in twenty calls, and only the first one of each record
// counts.
//
// Pure: the time is given in and must not go back. One owner; not thread-safe.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "base/time.h"
#include "delivery/rate/token_bucket.h"

namespace laneway::delivery {

class Pace {
 public:
  static constexpr std::uint32_t unlimited = std::numeric_limits<std::uint32_t>::max();

  /// Whether calls are limited, as of the last call with a time.
  bool limited() const { return limited_; }
  /// Calls per second, while limited; 0: unlimited.
  double rate() const { return calls_.rate(); }
  /// Whether the pace has recently kept a caller waiting.
  bool slows(TimePoint now) const { return limited_ && now - kept_waiting_at_ <= lately; }
  /// How many calls may begin now. To be asked only by a caller that has calls: a result of 0 keeps the
  /// caller waiting.
  std::uint32_t room(TimePoint now);
  /// When `calls` calls may begin, even if that is more than may begin at once; `now` if they may begin now.
  TimePoint ready_at(TimePoint now, double calls = 1);
  /// Calls begin. A negative number gives back calls that did not begin.
  void begin(TimePoint now, double calls);
  /// Calls worked. To be called while limited.
  void succeeded(TimePoint now, std::uint64_t calls) { successes_.add(now, calls); }
  /// A call was answered "too often". `after`: how long no call is wanted. `again`: the record's last call
  /// had the same answer.
  void throttled(TimePoint now, std::optional<Duration> after, bool again = false);

 private:
  static constexpr Duration lately = seconds(5);

  /// Calls per second, over the last one to two seconds.
  class Meter {
   public:
    void add(TimePoint now, std::uint64_t calls);
    double per_second(TimePoint now);
    /// The number of calls behind the last result of per_second().
    double calls() const { return older_calls_ + calls_; }
    void restart(TimePoint now) { *this = Meter(now); }
    Meter() = default;

   private:
    explicit Meter(TimePoint now) : since_(now) {}
    void turn(TimePoint now);

    TimePoint since_{};  // of the younger count
    double calls_ = 0;
    double older_calls_ = 0;
    Duration older_length_{};
  };

  void start(TimePoint now);
  void raise(TimePoint now);
  void change_rate(TimePoint now, double rate);
  bool are_few(TimePoint now);

  bool limited_ = false;
  bool blind_ = false;  // nothing worked at the last slow-down, so the rate carries no information
  TokenBucket calls_{0, 1};
  Meter successes_;
  Meter refusals_;
  TimePoint not_before_{};
  TimePoint throttled_at_{};
  TimePoint slowed_at_{};
  TimePoint raised_at_{};
  TimePoint kept_waiting_at_{};
};

}  // namespace laneway::delivery
