// Decides where a lane goes on when the client delivers an offset below the one that the lane expects.
//
// When a broker reports that an offset is out of range, the client goes back to the log's start. That can be
// right (the topic was truncated, or deleted and created again), and it can be wrong (a leader that was
// paused and does not know yet that it was replaced answers from its old log). Going back wrongly repeats the
// whole partition; staying wrongly loses the records that the new log has below the old offset. So nothing is
// taken and nothing is committed until this judge has decided, from answers to the question for the log's
// bounds. Each question goes to the leader that some broker names at that moment:
//
// - The log begins behind the expected offset: retention deleted the records between. Go forward to the log's
//   start.
// - The expected offset is within the log. One answer is enough to stay, because an old leader never knows an
//   offset that does not exist. But the topic may have been recreated and have grown past the offset since,
//   so the last record that was taken is read again: if it is the same record, stay; if it is another record,
//   start over. If there is no record to compare, the log is a new one if it was seen empty, or seen to grow
//   below the offset (a replaced leader's log does neither).
// - The log ends before the expected offset, in `least_answers` answers over `least_time` without an answer
//   to the contrary: start over at the log's start. A replaced leader that still runs knows about it within
//   seconds.
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
    compare,     ///< read the last record again, and call compared()
    forward,     ///< to the log's start; the expected offset is gone
    start_over,  ///< at the log's start; this is another log
  };
  enum class Comparison : std::uint8_t {
    same,
    other,
    impossible,  ///< the log has no record at that offset any more
  };

  static constexpr std::uint32_t least_answers = 5;
  static constexpr Duration least_time = seconds(15);

  /// For one doubt: the client delivered something below `expected`.
  PositionJudge(std::int64_t expected, bool can_compare, TimePoint now)
      : expected_(expected), can_compare_(can_compare), first_low_answer_(now) {}
  /// The log ends here, by the client or by an answer.
  void saw_end(std::int64_t end);
  /// The bounds by the last answer; `forward` and `start_over` go to the start.
  std::int64_t log_start() const { return bounds_.start; }
  std::int64_t log_end() const { return bounds_.end; }

  /// An answer to the question for the log's bounds.
  Verdict hear(const kafka::LogBounds& bounds, TimePoint now);
  Verdict compared(Comparison comparison);

 private:
  Verdict without_comparison() const;

  const std::int64_t expected_;
  bool can_compare_;
  kafka::LogBounds bounds_;
  std::int64_t highest_low_end_ = kafka::no_offset;  // of the ends below the expected offset
  bool was_empty_ = false;
  bool grew_ = false;
  std::uint32_t low_answers_ = 0;
  TimePoint first_low_answer_;
};

}  // namespace laneway::lane
