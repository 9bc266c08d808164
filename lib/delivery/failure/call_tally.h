// The results of a downstream's calls in the last minute, for people: how many calls there were, how many of
// them failed, and how they failed.
//
// The calls of a minute are in slices of a second. Successes may be reported in bulk, up to a second late. At
// most eight kinds of failure are distinguished at a time; further kinds are counted together, as "other".
//
// Pure: the time is given in and must not go back. One owner; not thread-safe. Bounded: about 4 KiB.
// Allocates nothing without failures.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace laneway::delivery {

struct CallReport {
  struct Kind {
    std::string name;
    std::uint64_t calls = 0;
  };
  std::uint64_t calls = 0;
  std::uint64_t failed = 0;
  std::vector<Kind> kinds{};  ///< of the failed calls, the most frequent first

  /// 0 to 100; 100 only if all calls failed, 0 only if none failed.
  std::uint32_t failed_percent() const;
};

/// "fails for 96 % of calls: HTTP 500 (312), time-out (4)"; below 1 % "fails for less than 1 % of calls: …";
/// without a failure "fails for no call".
std::string words_of(const CallReport& report);

/// A short kind of a reason, the same for many calls: "HTTP 500" for "HTTP 500 from shop:443: no database".
/// `downstream`: its name, which is left out.
std::string failure_kind(std::string_view reason, std::string_view downstream);

/// The values of the metric's label: few, whatever the downstream answers.
enum class CallOutcome : std::uint8_t { success, http_3xx, http_4xx, http_5xx, timeout, other };
inline constexpr std::array call_outcomes{"success",  "http_3xx", "http_4xx",
                                          "http_5xx", "timeout",  "other_failure"};
/// The kinds of failures whose reasons differ from handler to handler.
inline constexpr std::string_view timeout_kind = "time-out";
inline constexpr std::string_view panic_kind = "error in the handler";
CallOutcome outcome_of(std::string_view kind);

class CallTally {
 public:
  static constexpr std::size_t most_kinds = 8;
  static constexpr Duration length = seconds(60);
  using Totals = std::array<std::uint64_t, call_outcomes.size()>;

  void succeeded(TimePoint now, std::uint64_t calls);
  void failed(TimePoint now, std::string_view kind);

  /// The calls of the last minute, or of the time since `since` if that is shorter.
  CallReport report(TimePoint now, std::optional<TimePoint> since = {}) const;
  /// All calls so far, by CallOutcome.
  const Totals& totals() const { return totals_; }

 private:
  static constexpr std::size_t other = most_kinds;
  static constexpr std::size_t slices = 61;  // one more than 60, because the present second is not over
  struct Slice {
    std::int64_t second = -1;
    std::uint64_t succeeded = 0;
    std::array<std::uint32_t, most_kinds + 1> failed{};
  };

  Slice& slice_of(TimePoint now);
  std::size_t index_of(std::string_view kind, TimePoint now);
  bool recent(const Slice& slice, TimePoint now) const;
  bool unused(std::size_t kind, TimePoint now) const;

  std::array<Slice, slices> slices_{};
  std::array<std::string, most_kinds> kinds_{};
  Totals totals_{};
};

}  // namespace laneway::delivery
