// The failures of a lane for operators: lines in the log, each kind with a limit of its own, and the last
// error for the status. A dead letter is logged when the dead-letter topic has acknowledged it, and many
// share one line (delivery/failure/letter_limit.h); failed attempts get one line per lane in five seconds.
//
// Ownership: the lane's; the id outlives this. Threads: the loop's. Nothing blocks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "delivery/failure/letter_limit.h"
#include "handler/handler.h"
#include "lane/state/lane_detail.h"
#include "lane/state/lane_id.h"

namespace laneway::lane {

/// Maximum length of the reason that is stored with a record, and that its dead letter carries.
inline constexpr std::size_t longest_reason = 1000;

class FailureLog {
 public:
  explicit FailureLog(const LaneId& id) : id_(id) {}

  /// Attempt number `attempt` has failed; `event` names what follows for the record.
  void failed(const char* event, const handler::Item& item, std::uint32_t attempt,
              const handler::Outcome& outcome, TimePoint now);
  /// The record has the reason.
  void skipped(const handler::Item& item) const;
  /// The finished records of a task of Route::dead_letter have been written.
  void letters(const handler::Finished& finished, TimePoint now);
  /// Logs the letters without a line of their own; `everything`: also before their time.
  void more_letters(TimePoint now, bool everything = false);

  void remember(const handler::Item& item, const handler::Outcome& outcome);
  const std::optional<LastError>& last_error() const { return last_error_; }

 private:
  void letter(const handler::Item& item) const;

  const LaneId& id_;
  TimePoint next_line_{};
  std::uint64_t failures_since_ = 0;  // since the last line
  delivery::LetterLimit letter_limit_;
  std::optional<LastError> last_error_;
};

}  // namespace laneway::lane
