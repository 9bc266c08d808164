// What became of the calls of a downstream in the last minute, for people: how many there were, how many of
// them failed, and how they failed.
//
// The calls of a minute are in slices of a second. Successes may come in bulk, up to a second late. At most
// eight kinds of failure are told apart at a time; further ones are counted together, as "other".
//
// Pure: the time is given in and must not go back. One owner; not thread-safe. Bounded: about 4 KiB. Without
// failures nothing is allocated.
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
  std::vector<Kind> kinds{};  ///< of the failed ones, the most frequent first

  /// 0 to 100; 100 only when all failed, 0 only when none did.
  std::uint32_t failed_percent() const;
};

/// "fails for 96 % of calls: HTTP 500 (312), time-out (4)"; without a failure "fails for no call".
std::string words_of(const CallReport& report);

/// A short kind of a reason, the same for many calls: "HTTP 500" of "HTTP 500 from shop:443: no database".
/// `downstream`: its name, which is left out.
std::string failure_kind(std::string_view reason, std::string_view downstream);

/// What the metric tells apart: few values, whatever the downstream answers.
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

  /// Of the last minute, or of the time since `since` where that is shorter.
  CallReport report(TimePoint now, std::optional<TimePoint> since = {}) const;
  /// Since the beginning, by CallOutcome.
  const Totals& totals() const { return totals_; }

 private:
  static constexpr std::size_t other = most_kinds;
  static constexpr std::size_t slices = 61;  // the present second is not over
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
