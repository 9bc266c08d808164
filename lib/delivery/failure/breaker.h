// Whether a downstream works, and how many calls it gets (M. Nygard, "Release It!", 2nd edition, 5.2; the
// failure rate over a window with a minimum of calls as in resilience4j).
//
//              most of them fail                the wait is over
//   closed ─────────────────────────► open ─────────────────────────► half open ──► closed
//                                      ▲                one probe         │  more are let through with each
//                                      └──────────────────────────────────┘  success, fewer with each failure
//
// It opens when as many distinct records in a row have failed as cannot be chance, or when half of the
// records of the window or three quarters of the last 32 have failed, whatever the failure looked like. In
// half open one call may run at first; a success lets one more run, four failures one fewer, so that a
// downstream of which a fifth works is used as far as it works; where half of the records fail but none too
// many in a row, it is half open from the beginning, with many calls. It closes when many calls may run and
// fewer than half of the records fail; and, for a quiet stream, when a call has worked and for five seconds
// no record has failed that had not failed before. So a record that always fails is not excused for much
// longer than that.
//
// Attempts that fail while it is not closed say nothing about their records, nor do those that failed in the
// onset, before it opened: was_out() remembers.
//
// Pure: the time is given in and must not go back. One owner; not thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>

#include "base/time.h"
#include "delivery/failure/call_window.h"

namespace laneway::delivery {

struct BreakerRules {
  /// Distinct records in a row whose failure opens it, at least; 0: it never opens, and no failure says
  /// anything about the downstream.
  std::uint32_t failures = 5;
  Duration window = seconds(30);
  /// How long it stays open before a probe, and how long a probe without an answer keeps others back.
  Duration probe = seconds(5);
};

class Breaker {
 public:
  enum class State : std::uint8_t { closed, half_open, open };
  static constexpr std::uint32_t unlimited = std::numeric_limits<std::uint32_t>::max();

  explicit Breaker(BreakerRules rules) : rules_(rules), window_(rules.window) {}
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
  /// Calls of distinct records that worked.
  void succeeded(TimePoint now, std::uint64_t calls);
  /// A call of the record (CallWindow::nobody: of no certain one) failed. `suspect`: the record failed before
  /// while the downstream worked, so that another failure says little. `after`: the downstream's own wish for
  /// how long it is left alone.
  void failed(TimePoint now, RecordId record, bool suspect, std::optional<Duration> after = {});
  /// Time passes: to be called about once a second.
  void look(TimePoint now);
  /// A record that works had failed so often before, though the downstream was not out.
  void recovered(std::uint32_t failures);

  /// From when on failures say something: what failed while they were not attributed may have been an outage.
  TimePoint attributes_since() const { return attributes_since_; }
  /// Whether the downstream was out at a time, as far as is known now; long ago (32 outages) always, and
  /// before attributes_since().
  bool was_out(TimePoint at) const;
  /// When the present outage began; with any state but closed.
  TimePoint out_since() const { return outages_.back().begun; }
  /// Another record than this one has failed and none has worked since, or most records have failed lately:
  /// an outage may have begun.
  bool in_doubt(RecordId record) const { return window_.others_in_a_row(record) > 0 || most_fail(); }
  bool most_fail() const { return rules_.failures > 0 && window_.lately() * 2 >= CallWindow::few; }
  /// As many failures in a row of a record that works as would be a chance of one in a billion.
  std::uint32_t beyond_chance() const;
  std::uint64_t successes() const { return successes_; }
  /// How many there were, the present one included.
  std::uint64_t outages() const { return outages_seen_; }

 private:
  struct Outage {
    TimePoint begun;
    std::optional<TimePoint> ended{};
  };

  std::optional<TimePoint> onset() const;
  void open(TimePoint now, std::optional<Duration> after);
  void open_half(TimePoint now);
  bool is_row_beyond_chance() const;
  void close(TimePoint now);

  /// The share of calls that fail while the downstream works. What is long ago counts less, by the number of
  /// calls since and by the time.
  class Share {
   public:
    explicit Share(double most) : most_(most) {}
    void add(std::uint64_t good, std::uint32_t bad) {
      good_ += static_cast<double>(good);
      bad_ += bad;
      if (good_ + bad_ > most_) scale(most_ / 2 / (good_ + bad_));
    }
    /// The part that is left.
    void scale(double part) {
      good_ *= part;
      bad_ *= part;
    }
    double bad() const { return bad_ / (bad_ + std::max(good_, few)); }

   private:
    static constexpr double few = 10;  // until more is known, these worked
    double most_;
    double good_ = 0;
    double bad_ = 0;
  };

  BreakerRules rules_;
  State state_ = State::closed;
  TimePoint attributes_since_{};
  CallWindow window_;
  Share failing_{256};      // of records: that failed for the first time
  Share recovering_{1000};  // of calls: failures of records that worked later
  TimePoint faded_at_{};    // the shares of the failures
  std::deque<Outage> outages_;
  std::uint64_t outages_seen_ = 0;
  TimePoint probe_at_{};        // open: when the first probe may begin
  TimePoint last_begun_{};      // half open
  std::uint32_t quarters_ = 0;  // half open: four of them are a call that may run
  std::uint32_t in_flight_ = 0;
  bool has_worked_ = false;  // half open: a call has
  TimePoint calm_since_{};   // half open: no record has failed for the first time
  std::uint64_t successes_ = 0;
};

const char* name_of(Breaker::State state);

}  // namespace laneway::delivery
