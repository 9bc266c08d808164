// Decides when a partition has fallen silent, and what is tried then, step by step.
//
// A client can leave a partition out when it fetches, without an error: for example because it takes the
// partition for paused (librdkafka #5153, #5591). Then no record arrives, and the client does not learn the
// log's end either. So the lane asks the partition's leader where the log ends. A partition is silent while
// the leader answers that the log goes on beyond the lane's position, the lane wants records, and neither a
// record nor the log's end arrives. Time counts from one such answer to the next, at most a unit: a leader
// that does not answer is an outage and no silence, and an answer that arrives hours late is no reason for
// several steps at once.
//
// Steps are taken when the silence has lasted for 1, 2, 4 and 8 units: a seek to the lane's own position;
// pause and resume; new clients for all members of the process, which leave the group and join it again; the
// end of the process, for a restart. The process ends only for a partition that has delivered something to
// this process: otherwise a restart has just been tried, and a seek is repeated every 8 units instead.
//
// Anything that arrives ends the silence. After a seek, a client that works reports the log's end again, so
// offsets behind the position that are no records (transaction markers, records removed by compaction) lead
// to the first step and no further.
//
// Pure: the time is given in and must not go back. One owner, one thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/time.h"

namespace laneway::lane {

enum class SilenceStep : std::uint8_t { seek, pause, rejoin, restart };
/// The values of the label `step`.
inline constexpr std::array silence_steps{"seek", "pause", "rejoin", "restart"};

class SilenceWatch {
 public:
  explicit SilenceWatch(Duration unit) : unit_(unit) {}

  /// A record or the end of the log has come, or the lane begins.
  void came(TimePoint now);
  /// An earlier lane of the partition had tried this step, and all steps before it, at the same position.
  void has_tried(SilenceStep step);
  /// Nothing is wanted, or the leader has not answered: the time since the last answer does not count.
  void interrupted() { counts_since_.reset(); }
  /// The leader has answered. `goes_on`: the log goes on beyond the lane's position.
  void hear(bool goes_on, TimePoint now);

  /// When to ask the leader again: once a unit, because there can be many idle lanes, and twice a unit in a
  /// silence.
  TimePoint next_question() const { return next_question_; }
  void asked(TimePoint now) { next_question_ = now + (suspects() ? unit_ / 2 : unit_); }
  /// The last answer, or an earlier one since something arrived, was that the log goes on.
  bool suspects() const { return counts_since_ || silent_ > Duration::zero(); }

  /// The step that is due now; each step is returned once.
  std::optional<SilenceStep> step(bool worth_restarting);
  /// How long the silence has lasted, and how long it will have lasted when the next step is due.
  Duration silent() const { return silent_; }
  Duration due() const { return due_; }

 private:
  void begin_at(SilenceStep step);

  const Duration unit_;
  Duration silent_{};
  std::optional<TimePoint> counts_since_;  // the last answer
  TimePoint next_question_{};
  SilenceStep next_ = SilenceStep::seek;
  Duration due_ = unit_;
};

}  // namespace laneway::lane
