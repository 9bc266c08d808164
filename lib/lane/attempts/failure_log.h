// What a lane says of its failures: lines in the log, each kind with a limit of its own, and the last error
// for who asks. A dead letter has a line when the dead-letter topic has acknowledged it, and many have one
// together (delivery/failure/letter_limit.h); of failed attempts a lane has one line in five seconds.
//
// Ownership: the lane's; the id outlives this. Threads: the loop's. Nothing blocks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "delivery/failure/letter_limit.h"
#include "handler/handler.h"
#include "lane/lane_detail.h"
#include "lane/state/lane_id.h"

namespace laneway::lane {

/// Of a reason that is kept with its record; a dead letter carries it.
inline constexpr std::size_t longest_reason = 1000;

class FailureLog {
 public:
  explicit FailureLog(const LaneId& id) : id_(id) {}

  /// An attempt of this number has failed; `event` says what becomes of the record.
  void failed(const char* event, const handler::Item& item, std::uint32_t attempt,
              const handler::Outcome& outcome, TimePoint now);
  void skipped(const handler::Item& item, const std::string& why) const;
  /// What is done of a task of Route::dead_letter has been written.
  void letters(const handler::Finished& finished, TimePoint now);
  /// The letters that have no line of their own; `everything`: also before their time.
  void more_letters(TimePoint now, bool everything = false);

  void remember(const handler::Item& item, const handler::Outcome& outcome);
  const std::optional<LastError>& last_error() const { return last_error_; }

 private:
  void letter(const handler::Item& item) const;

  const LaneId& id_;
  TimePoint next_line_{};
  std::uint64_t failures_since_ = 0;  // the last line
  delivery::LetterLimit letter_limit_;
  std::optional<LastError> last_error_;
};

}  // namespace laneway::lane
