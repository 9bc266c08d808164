// The results of the recent calls of distinct records: how many records failed, and how many in a row.
//
// A record that fails several times counts once, so that a record that always fails (a poison record) counts
// as much as any other. There are two halves of 128 records, or of half the window's length if fewer records
// come: the older half is forgotten when the newer one is full. Failures in a row are remembered for longer:
// on a quiet stream, the failures of an hour are a row, too.
//
// Pure: the time is given in and must not go back. One owner; not thread-safe. Bounded: about 500 numbers.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "base/time.h"

namespace laneway::delivery {

/// Identifies a record: a hash of topic, partition and offset.
using RecordId = std::uint64_t;

class CallWindow {
 public:
  /// For a failure of no known record: it counts as the failure of another record.
  static constexpr RecordId nobody = 0;

  explicit CallWindow(Duration length) : length_(length) {}
  void set_length(Duration length) { length_ = length; }

  /// The calls of `records` records worked.
  void succeeded(TimePoint now, std::uint64_t records);
  /// A call of the record failed. Returns true if the window did not contain this record's failure yet.
  bool failed(TimePoint now, RecordId record);
  void clear();

  /// Records whose calls ended, and how many of them failed.
  std::uint32_t records() const { return older_.records + newer_.records; }
  std::uint32_t failures() const { return older_.failures() + newer_.failures(); }
  /// When the oldest of these failures happened.
  TimePoint failing_since() const {
    return older_.failed.empty() ? newer_.failing_since : older_.failing_since;
  }
  static constexpr std::uint32_t longest_row = 256;
  /// Distinct records that failed since the last success, at most longest_row, and when the first of them
  /// failed.
  std::uint32_t in_a_row() const { return static_cast<std::uint32_t>(row_.size()); }
  TimePoint row_since() const { return row_since_; }
  /// The same without this record.
  std::uint32_t others_in_a_row(RecordId record) const;

  static constexpr std::uint32_t few = 32;
  /// How many of the last `few` records failed, and when the oldest of these failures happened.
  std::uint32_t lately() const { return static_cast<std::uint32_t>(std::popcount(last_)); }
  TimePoint lately_since() const { return failed_at_[(failed_ - lately()) % few]; }

 private:
  struct Half {
    std::uint32_t records = 0;
    std::vector<RecordId> failed{};
    TimePoint failing_since{};

    std::uint32_t failures() const { return static_cast<std::uint32_t>(failed.size()); }
  };
  static constexpr std::uint32_t half_size = 128;

  void turn(TimePoint now);
  void rotate(TimePoint now);

  Duration length_;
  Half older_;
  Half newer_;
  TimePoint newer_since_{};
  std::vector<RecordId> row_;
  TimePoint row_since_{};
  std::uint32_t last_ = 0;  // a bit for each record, 1 if it failed; the youngest record is the lowest bit
  std::array<TimePoint, few> failed_at_{};
  std::uint32_t failed_ = 0;  // number of failures noted in failed_at_, which wraps around
};

}  // namespace laneway::delivery
