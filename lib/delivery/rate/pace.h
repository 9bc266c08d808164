// How many calls a second a downstream gets after it has answered that it is asked too often (HTTP 429).
//
// Such an answer says "slower", not "out". With the first one it begins to count what works; while they go
// on, the pace becomes 0.7 of the calls that worked in a second lately, at least one a second, and no call
// begins before the downstream's own wish (Retry-After) is over. Each second without such an answer raises
// the pace by a tenth, and by three tenths after ten such seconds, so that a limit that was lifted is found
// soon (additive-increase/multiplicative-decrease, as TCP has it, but in shares). Where nothing worked at
// all, nothing is known of the limit: then each such second of the first ten doubles the pace. A pace that
// has kept nobody waiting for 30 seconds ends: then calls are unlimited, and nothing here has to be asked.
//
// Limits of some records, such as those of one customer, change nothing for the others: while calls work,
// such answers count only if they come to more than one call in twenty, and only the first one of each
// record does.
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
  /// Calls a second, while limited; 0: as many as there are.
  double rate() const { return calls_.rate(); }
  /// Whether it has kept somebody waiting lately.
  bool slows(TimePoint now) const { return limited_ && now - kept_waiting_at_ <= lately; }
  /// How many calls may begin now. Asked by somebody who has some: an answer of 0 keeps that one waiting.
  std::uint32_t room(TimePoint now);
  /// When so many calls may begin, be it more than may at once; `now` when they may.
  TimePoint ready_at(TimePoint now, double calls = 1);
  /// Calls begin. A negative number gives calls back that did not.
  void begin(TimePoint now, double calls);
  /// Calls worked. To be told while limited.
  void succeeded(TimePoint now, std::uint64_t calls) { successes_.add(now, calls); }
  /// A call was answered "too often"; `after`: no call is wanted for so long. `again`: the record's last call
  /// was so answered, too.
  void throttled(TimePoint now, std::optional<Duration> after, bool again = false);

 private:
  static constexpr Duration lately = seconds(5);

  /// Calls a second, over the last one to two seconds.
  class Meter {
   public:
    void add(TimePoint now, std::uint64_t calls);
    double per_second(TimePoint now);
    /// The calls that the last answer of per_second() was about.
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
  bool blind_ = false;  // nothing worked when it slowed down last: its rate says nothing
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
