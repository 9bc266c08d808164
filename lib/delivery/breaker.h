// A circuit breaker (M. Nygard, "Release It!", 2nd edition, 5.2): when a downstream is out, work stops for
// it, one probe at a time asks whether it is back, and what follows ramps up.
//
//            failures                      the wait is over
//   closed ───────────► open ─────────────────────────────► half open ──► closed
//                        ▲                    one probe         │  enough successes
//                        └──────────────────────────────────────┘  a failure
//
// It opens on `failures` failures in a row, or on as many within `window` when they are half of all calls.
// In half open 1 may be at work, then with each success twice as many, and after `ramp` doublings it closes.
//
// A failure is what means the downstream (unavailable, or too slow), not a record. Pure: the time is given in
// and must not go back. One owner; not thread-safe.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "base/time.h"

namespace laneway::delivery {

struct BreakerRules {
  std::uint32_t failures = 5;  ///< 0: it never opens
  Duration window = seconds(30);
  /// How long it stays open before a probe, and how long a probe without an answer keeps others back.
  Duration probe = seconds(5);
};

class Breaker {
 public:
  enum class State : std::uint8_t { closed, half_open, open };
  static constexpr std::uint32_t unlimited = std::numeric_limits<std::uint32_t>::max();

  explicit Breaker(BreakerRules rules) : rules_(rules) {}
  /// Other rules from now on. One that is open asks after the new `probe` if that is sooner; one without
  /// failures to open on closes.
  void change(BreakerRules rules, TimePoint now);

  State state() const { return state_; }
  /// How many calls may begin now.
  std::uint32_t room(TimePoint now) const;
  /// Calls begin, at most room(now).
  void begin(TimePoint now, std::uint32_t calls);
  /// Calls that said nothing about the downstream: stopped, or given back.
  void ended(std::uint32_t calls);
  void succeeded(TimePoint now, std::uint32_t calls);
  /// `after`: the downstream's own wish for how long it is left alone.
  void failed(TimePoint now, std::optional<Duration> after = {});

 private:
  struct Half {
    std::uint64_t calls = 0;
    std::uint64_t failures = 0;
  };
  static constexpr std::uint32_t ramp = 5;

  void open(TimePoint now, std::optional<Duration> after);
  void close();
  void count(TimePoint now, std::uint32_t calls, std::uint32_t failures);

  BreakerRules rules_;
  State state_ = State::closed;
  std::uint32_t in_a_row_ = 0;
  Half older_;  // the window as two halves: the older one is forgotten when the newer one is over
  Half newer_;
  TimePoint newer_since_{};
  TimePoint probe_at_{};    // open: when the first probe may begin
  TimePoint last_begun_{};  // half open
  std::uint32_t allowed_ = 0;
  std::uint32_t in_flight_ = 0;
  std::uint32_t successes_ = 0;
};

const char* name_of(Breaker::State state);

}  // namespace laneway::delivery
