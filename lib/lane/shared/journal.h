// Writes one JSON line for each attempt at a record: for audits, and for the oracle of the integration
// tests.
//
// {"topic":"orders","partition":3,"offset":42,"epoch":7,"attempt":1,"start":…,"end":…,"outcome":"success","key":"…"}
// start and end are nanoseconds since 1970. They are read from the steady clock, which is compared with the
// system clock once at opening, so a step of the system clock does not reorder the lines. key is a hash
// (base/key_hash.h) in hexadecimal, or null if the record has no key: a journal holds no payload. Named pools
// add "pool" and, for a sub-job, "part" (its id, other characters than printable ASCII as %XX); a record that
// goes on to another pool has the outcome passed_on. A line is one write(2) to a file opened for appending.
// The line is written before the attempt counts as finished, so a commit never precedes its line, and a kill
// loses no line of a committed record.
//
// A file that was renamed gets lines until reopen(), so it can be rotated without losing a line.
//
// Threads: any. Blocking: as the file does. A failure to write is counted, and logged a few times in 10 s,
// and the work goes on. The process must ignore SIGXFSZ (main does).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/descriptor.h"
#include "base/result.h"
#include "base/time.h"
#include "kafka/types.h"

namespace laneway::lane {

class Journal {
 public:
  static Result<std::unique_ptr<Journal>> open(const std::string& file);
  /// Goes on in the file that has the name now, which is made if it is missing. Lines that are being written
  /// end in the file before. On an error the journal keeps the file that it has.
  Status reopen();
  /// Lines that were not written, or only in part.
  std::uint64_t lost_lines() const { return lost_lines_.load(std::memory_order_relaxed); }
  /// Whether the last reopen() failed.
  bool reopen_failed() const { return reopen_failed_.load(std::memory_order_relaxed); }
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  struct Line {
    const kafka::TopicPartition& partition;  ///< where the record was read, as is the offset
    std::int64_t offset;
    std::optional<std::string_view> key;
    std::uint64_t epoch;
    std::uint32_t attempt;
    TimePoint start;
    TimePoint end;
    const char* outcome;
    std::string_view pool{};  ///< empty if the lanes have one pool
    std::string_view part{};  ///< id of the sub-job; empty if the record is whole
  };
  void write(const Line& line);

 private:
  Journal(Descriptor opened, std::string file);
  Status replace_file();
  std::int64_t wall(TimePoint at) const;
  void append(std::string_view line);

  const Descriptor opened_;  // keeps its number; reopen() puts another file behind it
  const std::string file_;
  const std::chrono::steady_clock::time_point machine_origin_;
  const std::int64_t wall_origin_;
  std::atomic<bool> cut_{false};  // the file does not end with a whole line
  std::atomic<std::uint64_t> lost_lines_{0};
  std::atomic<bool> reopen_failed_{false};
};

}  // namespace laneway::lane
