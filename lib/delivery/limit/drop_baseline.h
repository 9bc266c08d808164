// Which share of the calls is dropped however few are made at once (by one broken instance of many, say), and
// whether more are dropped than that: only those that fewer calls can prevent are a reason for a lower limit.
//
// The baseline begins at 0. Too many calls are dropped when their share is above the baseline by two in a
// hundred, or by half of the baseline, and by three standard errors of the counted calls besides. Whether
// fewer calls at once prevent that, a trial shows: the caller lowers the limit, and asks persists() about the
// calls of that time alone. The calls before do not count: they were chosen for their many dropped ones.
//
// Calls that time out come in waves: when many give up together, many begin, and give up together. So a count
// with time-outs decides when it spans as much time as the longest one.
//
// The baseline falls when a count of a thousand calls and 20 s is below it by more than chance explains: over
// a shorter time, calls that time out look fewer than they are when the limit has just risen.
//
// Pure: the time is given in. One owner; not thread-safe.
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.h"

namespace laneway::delivery {

struct DropCount {
  std::uint64_t calls = 0;
  std::uint64_t dropped = 0;
  Duration time{};     ///< in which they ended
  Duration timeout{};  ///< the longest; 0 if no call timed out

  void add(const DropCount& more);
  double share() const;
  /// The standard error of the share, if `share` of all calls is dropped; more for few calls, in which one
  /// dropped call is a large share.
  double error(double share) const;
  bool whole_wave() const { return time >= timeout; }
};

class DropBaseline {
 public:
  double share() const { return share_; }
  /// The part of so large a share that is above the baseline: 0 to 1.
  double part_above(double share) const;

  /// Calls have ended.
  void count(const DropCount& calls, TimePoint now);
  /// The calls since no more than the baseline were dropped.
  const DropCount& above() const { return above_; }
  /// Whether too many of those were dropped.
  bool exceeded() const;
  /// Forgets them.
  void decided() { above_ = {}; }

  /// Whether too many of the calls that were made with a lower limit are dropped as well; nullopt while that
  /// may be chance.
  std::optional<bool> persists(const DropCount& calls) const;
  /// These calls were dropped, and not because there were too many.
  void learn(const DropCount& calls, TimePoint now);

 private:
  double margin() const;

  double share_ = 0;
  DropCount above_;
  DropCount long_;  // to see whether the baseline has become less
  TimePoint long_begun_{};
};

}  // namespace laneway::delivery
