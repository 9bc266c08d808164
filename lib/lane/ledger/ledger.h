// Which records of one assignment of a partition are complete, and therefore which offset may be committed.
//
// Records get dense sequence numbers in order of delivery; offsets have gaps (compaction, transaction
// markers). The ledger holds a segment for each stretch of neighbouring offsets and a bit for each record
// from the oldest incomplete one on, so appending and completing runs costs a few instructions per 64
// records, and no allocation once the ledger has its size. After going back (a truncated or recreated topic)
// a new ledger is needed.
//
// A ledger can start from the completion map of the last commit: records in the map are complete without
// being run again, and stay in the maps that this ledger writes, also before they are delivered again.
//
// Invariants: committable() never exceeds the offset of the oldest incomplete record and never falls.
// Ownership, threads: one owner, one thread. Pure: no clock, no Kafka, nothing blocks; memory is 2 bits per
// record of the window plus 16 bytes per stretch of neighbouring offsets in it, bounded by the caller through
// window(); no memory before the first record.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lane/ledger/completion_map.h"

namespace laneway::lane {

/// The ledger's number of a record, from 0 in order of delivery.
using Sequence = std::uint64_t;

class Ledger {
 public:
  static constexpr std::int64_t unknown = -1;

  struct Position {
    Sequence sequence = 0;
    std::int64_t offset = 0;
  };

  /// `next_offset`: where delivery begins, or unknown.
  explicit Ledger(std::int64_t next_offset = unknown) : reached_(next_offset) {}
  /// Delivery begins at the map's base, the committed offset.
  explicit Ledger(CompletionMap restored) : reached_(restored.base), restored_(std::move(restored)) {}

  /// Whether this offset lies before a delivered or passed one: then it is no record of this ledger.
  bool would_go_back(std::int64_t offset) const { return offset < position(); }
  /// Whether an earlier life of this group completed records that are still to come. If not, the next two
  /// are false for each record.
  bool restores() const { return !restored_.runs.empty(); }
  /// Whether an earlier life completed the record: then append it and complete it at once.
  bool completed_before(std::int64_t offset) const { return restored_.contains(offset); }
  /// Whether an earlier life completed later records, but not this one: this record may always fail.
  bool left_behind(std::int64_t offset) const { return restores() && offset < restored_.runs.back().begin; }

  /// Appends delivered records with the offsets first_offset, first_offset + 1, … Returns the sequence number
  /// of the first. The offsets must not go back.
  Sequence append(std::int64_t first_offset, std::uint32_t count = 1) {
    assert(first_offset >= position() && count > 0);
    const Sequence first = next_;
    if (const auto shift = first_offset - static_cast<std::int64_t>(first); shift != shift_) {
      segments_.push_back({first, first_offset});
      shift_ = shift;
    }
    next_ += count;
    if ((next_ - 1) / 64 - oldest_ / 64 >= words_.size()) grow();
    if (!restored_.runs.empty()) forget_restored();
    return first;
  }

  /// Marks appended records as complete. Returns how many were incomplete before (0 if all had come twice).
  std::uint32_t complete(Sequence first, std::uint32_t count = 1);

  /// The end of the partition was seen at `offset`: every record below it has been delivered.
  void reached(std::int64_t offset) { reached_ = std::max(reached_, offset); }

  /// The offset below which everything is complete: the oldest incomplete offset, or else the next offset to
  /// be delivered, or unknown.
  std::int64_t committable() const { return incomplete() == 0 ? position() : offset_of(oldest_); }
  /// nullopt if all records are complete.
  std::optional<Position> oldest_incomplete() const {
    if (incomplete() == 0) return {};
    return Position{oldest_, offset_of(oldest_)};
  }
  /// The record of the window with this offset; nullopt if it is complete or not in the window. O(log²
  /// window).
  std::optional<Sequence> incomplete_at(std::int64_t offset) const;
  bool is_incomplete(Sequence sequence) const {
    return sequence >= oldest_ && sequence < next_ && find(false, sequence) == sequence;
  }
  /// Records completed since the last call.
  std::uint64_t take_completed() { return std::exchange(newly_completed_, 0); }
  /// The number of appended records: the next sequence number.
  std::uint64_t appended() const { return next_; }
  /// The number of appended records that are complete.
  std::uint64_t done() const { return next_ - incomplete(); }
  /// The number of records that are not complete.
  std::uint64_t incomplete() const { return window() - completed_above_; }
  /// The number of records from the oldest incomplete one to the newest.
  std::uint64_t window() const { return next_ - oldest_; }
  /// Complete records above committable(): they cannot be committed yet.
  std::uint64_t completed_beyond() const {
    return completed_above_ + (restores() ? restored_from(position()) : 0);
  }
  /// Records that an earlier life completed, at `offset` or above, and that have not been delivered again.
  std::uint64_t restored_from(std::int64_t offset) const;
  /// The offset of a record of the window.
  std::int64_t offset_of(Sequence sequence) const;

  /// The completed records above committable(): their first max_runs runs.
  CompletionMap completed(std::size_t max_runs) const;
  /// Changes when records above the oldest incomplete one are completed. When committable() moves instead,
  /// the number may stay the same, but then there is a commit to make anyway.
  std::uint64_t map_version() const { return map_version_; }

 private:
  /// Records from first_sequence on have offsets from first_offset on, up to the beginning of the next
  /// segment.
  struct Segment {
    Sequence first_sequence;
    std::int64_t first_offset;
  };

  // Offset minus sequence before the first record: that of no record.
  static constexpr std::int64_t no_segment = std::numeric_limits<std::int64_t>::min();

  /// No offset below this one will be delivered: the end of the newest segment or, if that is later, the
  /// offset that was reached.
  std::int64_t position() const { return std::max(reached_, static_cast<std::int64_t>(next_) + shift_); }
  std::uint64_t& word_of(Sequence sequence) { return words_[sequence / 64 & (words_.size() - 1)]; }
  std::uint64_t word_of(Sequence sequence) const { return words_[sequence / 64 & (words_.size() - 1)]; }
  Sequence find(bool complete, Sequence from) const;
  void grow();
  void advance();
  void forget_restored();

  Sequence oldest_ = 0;                // all records below are complete; equals next_ when all are
  Sequence next_ = 0;                  // the only field that an append in the newest segment changes
  std::int64_t shift_ = no_segment;    // offset minus sequence in the newest segment
  std::int64_t reached_;               // lower offsets have been delivered, or are not wanted
  std::uint64_t completed_above_ = 0;  // of the window
  std::uint64_t map_version_ = 0;
  std::uint64_t newly_completed_ = 0;  // since take_completed()
  // A ring of words, whose number is a power of two, with a bit per record: 1 is complete. Bits beyond next_
  // are zero, so appending need not clear them.
  std::vector<std::uint64_t> words_;
  std::vector<Segment> segments_;  // those before first_segment_ are no longer used
  std::size_t first_segment_ = 0;
  CompletionMap restored_;
};

}  // namespace laneway::lane
