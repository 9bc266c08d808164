// What people ask a lane, and what it answers: beyond the numbers in lane_stats.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/time.h"

namespace laneway::lane {

/// The record that holds back the commits.
struct OldestRecord {
  enum class Phase : std::uint8_t {
    at_work,  ///< in a worker
    retry,    ///< waits for its next attempt
    queued,   ///< waits for a worker, or behind another record of its key
  };
  std::int64_t offset = 0;
  Duration age{};              ///< since it became the oldest
  std::uint32_t attempts = 0;  ///< begun; those that ended because the downstream was out do not count
  Phase phase = Phase::queued;
  std::string error;  ///< of its last attempt; empty: none failed
};

/// Of the last attempt that failed, whatever it failed at.
struct LastError {
  std::int64_t offset = 0;
  std::uint32_t attempt = 0;
  std::int64_t at_ms = 0;  ///< since 1970
  std::string error;
};

struct LaneDetail {
  std::string held_by;  ///< reasons in words; empty: it is not held
  std::optional<OldestRecord> oldest;
  std::string source_error;   ///< why nothing can be read; empty: something was, since
  Duration source_failing{};  ///< since when; zero: something can be read
  std::optional<LastError> last_error;
};

/// What became of the wish to skip a record.
enum class Skip : std::uint8_t {
  on_its_way,        ///< to the dead-letter topic
  passed_over,       ///< Corrupt records up to this offset are given up; there is nothing to write anywhere.
  when_it_fails,     ///< It is at work or waits for a worker: if that attempt fails, it is its last.
  no_dead_letters,   ///< There is no dead-letter topic, and nothing is dropped.
  already_given_up,  ///< It is on its way there for another reason.
  not_taken,         ///< The lane has not come to it yet.
  not_waiting,       ///< It is done, or there is no such record.
  leaving,           ///< The lane drains: the record is somebody else's soon.
};

}  // namespace laneway::lane
