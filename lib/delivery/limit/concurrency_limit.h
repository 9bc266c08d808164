// How many calls a downstream gets at a time, found from its answers: after Netflix's concurrency-limits
// (github.com/Netflix/concurrency-limits), with the differences that aimd.h, latency_limit.h and
// latency_rules.h list.
//
//   calls that end ─► window (limit_window.h) ─► more dropped than the baseline (drop_baseline.h)?
//                                                   │ no                      │ yes
//                                                   ▼                         ▼
//                                       aimd │ vegas │ gradient    trial: half of the quicker calls
//                                                                     │ fewer dropped    │ as many dropped
//                                                                     ▼                  ▼
//                                                                  × 0.9 … 0.5       the new baseline
//
// The limit begins at min. Dropped calls are those by which the downstream may show that there are too many:
// "too often" (429), no answer in time, and "not now" (503, refused). A trial shows whether there are: if the
// calls beyond a capacity are dropped, and those are less than half, half of the limit is within the
// capacity. The places that slow calls hold are not halved: they stay held, and nothing else would run.
// Then the limit becomes 0.9 of what it was, or less by the places of the dropped calls above the baseline
// (their time, by Little's law), at least half; and for half a minute, or twenty times the trial up
// to ten minutes, dropped calls lower it without another trial. If it falls to the limit of the trial and
// they go on, the trial fell between two bursts of them: the limit returns, and the next trials last longer.
// Otherwise it returns. When at least half of the calls are dropped the limit falls at once, and nothing is
// learned: that is an outage, which is the breaker's. The published Gradient2 ignores dropped calls, Vegas
// lowers by log₁₀, and AIMD takes each dropped call for overload. The opening of the breaker halves the
// limit.
//
// The published windows drop calls under 0.1 ms, so they never adapt for handlers of microseconds; here no
// call is too short.
//
// Pure: the time is given in and must not go back. One owner; not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "delivery/limit/algorithm.h"
#include "delivery/limit/drop_baseline.h"
#include "delivery/limit/limit_window.h"

namespace laneway::delivery {

enum class LimitKind : std::uint8_t { aimd, vegas, gradient };

struct LimitChange {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  LimitReason reason = LimitReason::none;
  std::string words;  ///< "latency rose from 12 ms to 40 ms"
};

class ConcurrencyLimit {
 public:
  /// `bounds.min` is at least 1, and at most `bounds.max`.
  ConcurrencyLimit(LimitKind kind, LimitBounds bounds);

  std::uint32_t limit() const { return limit_; }
  LimitBounds bounds() const { return bounds_; }
  /// Latency without a queue, in seconds; 0 if it is not measured.
  double base() const { return algorithm_->base(); }

  /// Calls have ended. Returns the change of the limit that follows, if any.
  std::optional<LimitChange> ended(const EndedCalls& calls, TimePoint now);
  /// The breaker has opened.
  std::optional<LimitChange> breaker_opened(TimePoint now);
  /// Replaces the bounds; takes effect immediately.
  std::optional<LimitChange> change(LimitBounds bounds, TimePoint now);

 private:
  /// A lower limit for a while, to see whether fewer calls are dropped then.
  struct Trial {
    std::uint32_t limit;      // before
    LimitWindow::Sum window;  // the reason
    TimePoint begun;
    DropCount calls;  // since the limit was lowered
  };

  /// What a trial found.
  struct Overload {
    std::uint32_t limit = 0;   // at which too many calls were dropped
    std::uint32_t within = 0;  // at which they were not; 0: not known
    TimePoint until{};         // until then dropped calls need no trial
  };

  std::optional<LimitChange> decide(const LimitWindow::Sum& window, TimePoint now);
  std::optional<LimitChange> exceeded(std::uint32_t used, TimePoint now);
  std::optional<LimitChange> judge(const DropCount& calls, TimePoint now);
  std::optional<LimitChange> contradicted(TimePoint now);
  std::optional<LimitChange> lower(const LimitWindow::Sum& window, TimePoint now);
  std::optional<LimitChange> move(NextLimit next, std::string words, Duration settle, TimePoint now);

  const std::unique_ptr<LimitAlgorithm> algorithm_;
  LimitBounds bounds_;
  std::uint32_t limit_;
  LimitWindow window_;
  DropBaseline baseline_;
  LimitWindow::Sum dropping_;  // the last window in which calls were dropped
  std::optional<Trial> trial_;
  Overload overload_;
  Duration burst_{};  // a trial, and what leads to one, lasts for at least so long
};

}  // namespace laneway::delivery
