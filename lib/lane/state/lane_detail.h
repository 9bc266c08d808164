// What a lane reports to operators beyond the numbers in lane_stats.h.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "lane/state/hold_reasons.h"

namespace laneway::lane {

/// The record that holds back the commits.
struct OldestRecord {
  enum class Phase : std::uint8_t {
    running,  ///< a worker runs the record
    waiting,  ///< the record waits for its next attempt
    queued,   ///< the record waits for a worker, or behind another record of its key
  };
  std::int64_t offset = 0;
  Duration age{};  ///< how long it has been the oldest, and has held back the commits
  std::uint32_t attempt =
      0;  ///< the number of the running attempt, else of the last one; 0 if none has begun
  Phase phase = Phase::queued;
  std::uint32_t failed_attempt = 0;  ///< the number of the attempt that failed last; 0 if none failed
  std::string error{};               ///< of that attempt
};

constexpr const char* name_of(OldestRecord::Phase phase) {
  return std::array{"running", "waiting", "queued"}.at(static_cast<std::size_t>(phase));
}

/// The last failed attempt at any record.
struct LastError {
  std::int64_t offset = 0;
  std::uint32_t attempt = 0;
  std::int64_t at_ms = 0;  ///< since 1970
  std::string error;
  TimePoint at{};  ///< the same moment as at_ms
};

struct LaneDetail {
  std::string held_by;  ///< reasons in words; empty if the lane is not held
  std::optional<OldestRecord> oldest;
  std::string source_error;   ///< why nothing can be read; empty if something has been read since
  Duration source_failing{};  ///< for how long; zero if something can be read
  std::optional<LastError> last_error;
  /// When an operator suspended the partition, since 1970; nullopt if it is suspended in this process only,
  /// or not suspended.
  std::optional<std::int64_t> suspended_ms;
  std::vector<HeldBy> hold_reasons{};  ///< the same reasons as in `held_by`, as values
  /// The lane waits at the first record of this transaction of another producer; -1 if at none.
  std::int64_t open_transaction = -1;
};

/// The result of a request to skip a record.
enum class Skip : std::uint8_t {
  on_its_way,        ///< The record goes to the dead-letter topic.
  passed_over,       ///< Corrupt records up to this offset are given up; nothing is written anywhere.
  when_it_fails,     ///< The record is running or queued: if that attempt fails, it is the last.
  no_dead_letters,   ///< There is no dead-letter topic, and nothing is dropped.
  already_given_up,  ///< The record already goes to the dead-letter topic for another reason.
  not_taken,         ///< The lane has not reached the record yet.
  not_waiting,       ///< The record is finished, or there is no such record.
  leaving,           ///< The lane drains: another member gets the record soon.
};

}  // namespace laneway::lane
