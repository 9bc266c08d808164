// Where a lane goes on when the client delivers an offset below the one that the lane expects.
//
// The client goes back to the log's start by itself when a broker says that an offset is out of range. That
// can be right (the topic was truncated, or deleted and created again) and it can be wrong (a leader that was
// paused and does not know yet that it was replaced answers by its old log). Going back where it is wrong
// repeats the whole partition; staying where going back is right loses what the new log has below the old
// offset. So nothing is taken and nothing is committed until this judge has decided, from answers to the
// question for the log's bounds, each asked of the leader that some broker names at that moment:
//
// - The log begins behind the expected offset: retention took what is between. Go forward to its start.
// - The expected offset is within the log. One answer is enough to stay, because a leader of the past knows
// no
//   offset that does not exist. But the topic may have been made anew and have grown past the offset since,
//   so the last record that was taken is read again: the same one, then stay; another one, then start over.
//   Where there is none to compare, the log is a new one if it was seen empty, or seen to grow below the
//   offset (a replaced leader's log does neither).
// - The log ends before the expected offset, in `least_answers` answers over `least_time` without one that
// says
//   otherwise: start over at its start. A replaced leader that still runs knows about it within seconds.
//
// Pure: the time is given in and must not go back. One owner, one thread.
#pragma once

#include <cstdint>

#include "base/time.h"
#include "kafka/types.h"

namespace laneway::lane {

class PositionJudge {
 public:
  enum class Verdict : std::uint8_t {
    ask_again,
    stay,        ///< at the expected offset
    compare,     ///< read the last record again, and tell compared()
    forward,     ///< to the log's start, the expected offset is gone
    start_over,  ///< at the log's start, this is another log
  };
  enum class Comparison : std::uint8_t {
    same,
    other,
    impossible,  ///< there is no record at that offset any more
  };

  static constexpr std::uint32_t least_answers = 5;
  static constexpr Duration least_time = seconds(15);

  /// The client delivered something below `expected`. `end_seen`: where it said the log ends, or no_offset.
  /// While there is a doubt already, only that is added.
  void doubt(std::int64_t expected, std::int64_t end_seen, bool can_compare, TimePoint now);
  bool in_doubt() const { return in_doubt_; }
  std::int64_t expected() const { return expected_; }
  /// Of the last log that was answered; where `forward` and `start_over` go.
  std::int64_t log_start() const { return bounds_.start; }
  std::int64_t log_end() const { return bounds_.end; }

  /// An answer to the question for the log's bounds.
  Verdict hear(const kafka::LogBounds& bounds, TimePoint now);
  Verdict compared(Comparison comparison);
  void end() { in_doubt_ = false; }

 private:
  void note_end(std::int64_t end);
  Verdict without_comparison() const;

  bool in_doubt_ = false;
  bool can_compare_ = false;
  std::int64_t expected_ = kafka::no_offset;
  kafka::LogBounds bounds_;
  std::int64_t highest_low_end_ = kafka::no_offset;  // of those before the expected offset
  bool was_empty_ = false;
  bool grew_ = false;
  std::uint32_t low_answers_ = 0;
  TimePoint first_low_answer_{};
};

}  // namespace laneway::lane
