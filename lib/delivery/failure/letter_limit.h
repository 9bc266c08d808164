// Decides which dead letters of a lane are logged one by one: the first 20 of a minute. The others are
// counted, and a line every five seconds reports their number and the range of their offsets.
//
// Pure: the time is given in and must not go back. One owner; not thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/time.h"

namespace laneway::delivery {

class LetterLimit {
 public:
  /// Dead letters that were not logged one by one.
  struct Summary {
    std::uint64_t letters = 0;
    std::int64_t first = 0;  ///< the lowest offset
    std::int64_t last = 0;   ///< the highest offset
  };
  static constexpr std::uint32_t most = 20;
  static constexpr Duration window = seconds(60);
  static constexpr Duration interval = seconds(5);

  /// A dead letter at this offset. Returns true if it is logged by itself; false if a summary will count it.
  bool admit(TimePoint now, std::int64_t offset) {
    if (logged_ == 0 || now - begun_ >= window) {
      begun_ = now;
      logged_ = 0;
    }
    if (logged_ < most) {
      ++logged_;
      return true;
    }
    if (counted_.letters++ == 0) {
      counted_.first = counted_.last = offset;
      due_ = now + interval;
    }
    counted_.first = std::min(counted_.first, offset);
    counted_.last = std::max(counted_.last, offset);
    return false;
  }

  /// The summary to log now; `everything`: also before its time.
  std::optional<Summary> take_due(TimePoint now, bool everything = false) {
    if (counted_.letters == 0 || (!everything && now < due_)) return std::nullopt;
    return std::exchange(counted_, {});
  }

 private:
  TimePoint begun_{};
  std::uint32_t logged_ = 0;
  Summary counted_;
  TimePoint due_{};
};

}  // namespace laneway::delivery
