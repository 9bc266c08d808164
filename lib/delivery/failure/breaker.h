// Whether a downstream works, and how many calls it gets (M. Nygard, "Release It!", 2nd edition, 5.2; the
// failure rate over a window with a minimum of calls as in resilience4j).
//
//              most of them fail                the wait is over
//   closed ─────────────────────────► open ─────────────────────────► half open ──► closed
//                                      ▲                one probe         │  more are let through with each
//                                      └──────────────────────────────────┘  success, fewer with each failure
//
// The breaker opens when so many distinct records in a row have failed that it cannot be chance, or when half
// of the records of the window or three quarters of the last 32 have failed, whatever the kind of failure.
// Half open, one call may run at first; a success admits one more, four failures one fewer, so that a
// downstream of which a fifth works is used as far as it works. If half of the records fail, but not too many
// in a row, the breaker is half open from the beginning, with many calls. The breaker closes when many calls
// may run and fewer than half of the records fail; on a quiet stream it also closes when a call has worked
// and for five seconds no record has failed for the first time. So a record that always fails is not excused
// for much longer than that.
//
// A row beyond chance shows an outage at once if the row is longer than the number of other calls that run.
// Otherwise the breaker waits for these calls, for 1.5 seconds or 256 failures at most: records that always
// fail may only have the quicker answers. If one of the calls works, the row shows nothing: the row was of
// such records, or of an outage that is over. in_unclear_row() remembers the row.
//
// Records that failed while the downstream worked for others are expected to fail again: their failures open
// nothing. If an open breaker has only such records left to probe with, nothing shows an outage any more, and
// the breaker closes.
//
// Attempts that fail while the breaker is not closed do not count against their records, nor do attempts that
// failed at the onset, before the breaker opened: was_out() remembers the outages.
//
// Pure: the time is given in and must not go back. One owner; not thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>

#include "base/time.h"
#include "delivery/failure/breaker_state.h"
#include "delivery/failure/call_window.h"

namespace laneway::delivery {

struct BreakerRules {
  /// The least number of distinct records that must fail in a row to open the breaker. 0: the breaker never
  /// opens, and no failure counts against the downstream.
  std::uint32_t failures = 5;
  Duration window = seconds(30);
  /// How long the breaker stays open before a probe, and how long a probe without an answer keeps others
  /// back.
  Duration probe = seconds(5);
};

class Breaker {
 public:
  using State = BreakerState;
  static constexpr std::uint32_t unlimited = std::numeric_limits<std::uint32_t>::max();

  /// A call that failed.
  struct Failure {
    RecordId record;                  ///< CallWindow::nobody: no known record
    bool repeated;                    ///< the record failed before, so another failure shows little
    std::optional<Duration> after{};  ///< how long the downstream asked to be left alone
    std::uint32_t beside = 0;         ///< other calls that run
  };

  explicit Breaker(BreakerRules rules) : rules_(rules), window_(rules.window) {}
  /// Replaces the rules; takes effect immediately. An open breaker probes after the new `probe` if that is
  /// sooner; a breaker whose rules name no failures to open on closes.
  void change(BreakerRules rules, TimePoint now);

  State state() const { return state_; }
  /// How many calls may begin now.
  std::uint32_t room(TimePoint now) const;
  /// Calls begin; at most room(now).
  void begin(TimePoint now, std::uint32_t calls);
  /// Calls ended that show nothing about the downstream: stopped, or given back.
  void ended(std::uint32_t calls);
  /// Calls of distinct records worked.
  void succeeded(TimePoint now, std::uint64_t calls);
  void failed(TimePoint now, const Failure& failure);
  /// A call that began at `began` failed, of a record that has failed while the downstream worked: this was
  /// to be expected.
  void failed_as_expected(TimePoint began, TimePoint now);
  /// Time passes, and so many calls run: to be called about once per second.
  void look(TimePoint now, std::uint32_t running);
  /// A record that is done now had failed this often before, although the downstream was not out.
  void recovered(std::uint32_t failures);

  /// From when on failures count: earlier failures were not attributed, and may have been an outage.
  TimePoint attributes_since() const { return attributes_since_; }
  /// Whether the downstream was out at a time, as far as is known now; always true for times long ago (32
  /// outages) and before attributes_since().
  bool was_out(TimePoint at) const;
  /// Whether a failure at a time may show an outage once other calls have ended.
  bool in_waiting_row(TimePoint at) const { return row_waits_since_ && at >= window_.row_since(); }
  /// Whether a failure at a time shows neither that the downstream was out nor that the record always fails.
  bool in_unclear_row(TimePoint at) const;
  /// When the present outage began; valid in any state but closed.
  TimePoint out_since() const { return outages_.back().begun; }
  /// When the last outage ended or, if it goes on, began; zero if there was none.
  TimePoint back_since() const {
    return outages_.empty() ? TimePoint{} : outages_.back().ended.value_or(outages_.back().begun);
  }
  /// Whether an outage may have begun: another record has failed and none has worked since, or most records
  /// have recently failed.
  bool in_doubt(RecordId record) const { return window_.others_in_a_row(record) > 0 || most_fail(); }
  bool most_fail() const { return rules_.failures > 0 && window_.lately() * 2 >= CallWindow::few; }
  /// The number of failures in a row, of a record that works, that has a chance of one in a billion.
  std::uint32_t beyond_chance() const;
  std::uint64_t successes() const { return successes_; }
  /// The number of outages, including the present one.
  std::uint64_t outages() const { return outages_seen_; }

 private:
  struct Outage {
    TimePoint begun;
    std::optional<TimePoint> ended{};
  };

  static bool is_in(const std::deque<Outage>& all, TimePoint at);
  void judge(TimePoint now, std::uint32_t beside, std::optional<Duration> after);
  std::optional<TimePoint> onset(bool row_counts, std::uint32_t unsure) const;
  void clear_window();
  void open(TimePoint now, std::optional<Duration> after);
  void open_half(TimePoint now);
  void acquit(TimePoint now);
  void close(TimePoint now);

  /// The share of calls that fail while the downstream works. Older calls count less, by the number of calls
  /// since and by the time.
  class Share {
   public:
    explicit Share(double most) : most_(most) {}
    void add(std::uint64_t good, std::uint32_t bad) {
      good_ += static_cast<double>(good);
      bad_ += bad;
      if (good_ + bad_ > most_) scale(most_ / 2 / (good_ + bad_));
    }
    /// Keeps this part of the counts.
    void scale(double part) {
      good_ *= part;
      bad_ *= part;
    }
    double bad() const { return bad_ / (bad_ + std::max(good_, few)); }

   private:
    static constexpr double few = 10;  // until more is known, this many calls are taken to have worked
    double most_;
    double good_ = 0;
    double bad_ = 0;
  };

  BreakerRules rules_;
  State state_ = State::closed;
  TimePoint attributes_since_{};
  CallWindow window_;
  std::optional<TimePoint> row_waits_since_{};  // the present row is beyond chance, and other calls run
  Share failing_{256};                          // of records: failed for the first time
  Share recovering_{1000};                      // of calls: failures of records that worked later
  TimePoint faded_at_{};                        // when the shares were last reduced
  std::deque<Outage> outages_;
  std::deque<Outage> unclear_rows_;
  std::uint64_t outages_seen_ = 0;
  TimePoint probe_at_{};        // open: when the first probe may begin
  TimePoint last_begun_{};      // half open
  std::uint32_t quarters_ = 0;  // half open: four quarters are one call that may run
  std::uint32_t in_flight_ = 0;
  bool has_worked_ = false;  // half open: a call has worked
  TimePoint half_open_since_{};
  bool by_probe_ = false;      // half open: because a probe has begun
  std::uint32_t in_vain_ = 0;  // probes in a row whose failure was to be expected
  TimePoint calm_since_{};     // half open: no record has failed for the first time
  std::uint64_t successes_ = 0;
};

}  // namespace laneway::delivery
