// Which records of one assignment of a partition are complete, and therefore which offset may be committed.
//
// Records get dense sequence numbers in order of delivery; offsets have gaps (compaction, transaction
// markers). The ledger holds a segment for each stretch of neighbouring offsets and a bit for each record
// from the oldest incomplete one on, so appending and completing runs costs a few instructions per 64 records
// and no allocation once it has its size. Going backwards (a truncated or recreated topic) is a new ledger.
//
// A ledger can start from the completion map of the last commit: what the map holds is complete without being
// run again, and stays in the maps that this ledger writes, also before it has been delivered again.
//
// Invariants: committable() never exceeds the offset of the oldest incomplete record and never falls.
// Ownership, threads: one owner, one thread. Pure: no clock, no Kafka, nothing blocks; memory is 2 bits per
// record of the window plus 16 bytes per stretch of neighbouring offsets in it, bounded by the caller through
// window(), none at first.
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

  /// This offset lies before something delivered or passed: not a record of this ledger.
  bool would_go_back(std::int64_t offset) const { return offset < position(); }
  /// An earlier life of this group completed it: append it and complete it at once.
  bool completed_before(std::int64_t offset) const {
    return !restored_.runs.empty() && restored_.contains(offset);
  }
  /// An earlier life completed records after it, but not this one: it may be a record that always fails.
  bool left_behind(std::int64_t offset) const {
    return !restored_.runs.empty() && offset < restored_.runs.back().begin;
  }

  /// Records delivered: offsets first_offset, first_offset + 1, … Returns the first one's number. They must
  /// not go back.
  Sequence append(std::int64_t first_offset, std::uint32_t count = 1) {
    assert(!would_go_back(first_offset) && count > 0);
    if (first_offset != segment_end()) begin_segment(first_offset);
    const Sequence first = next_;
    next_ += count;
    if (word_of(next_ - 1) - word_of(oldest_) >= words_.size()) grow();
    if (!restored_.runs.empty()) forget_restored();
    return first;
  }

  /// Marks appended records as complete; returns how many were not so before (0: all of it came twice).
  std::uint32_t complete(Sequence first, std::uint32_t count = 1);

  /// The end of the partition was seen at `offset`: every record below it has been delivered.
  void reached(std::int64_t offset) { reached_ = std::max(reached_, offset); }

  /// Everything below it is complete: the oldest incomplete offset, else the next one to be delivered; or
  /// unknown.
  std::int64_t committable() const { return incomplete() == 0 ? position() : offset_of(oldest_); }
  /// Nothing when all is complete.
  std::optional<Position> oldest_incomplete() const {
    if (incomplete() == 0) return {};
    return Position{oldest_, offset_of(oldest_)};
  }
  /// The record of the window with this offset, unless it is complete. O(log² window).
  std::optional<Sequence> incomplete_at(std::int64_t offset) const;
  bool is_incomplete(Sequence sequence) const {
    return sequence >= oldest_ && sequence < next_ && find(false, sequence) == sequence;
  }
  /// Records that are complete, of all that were appended.
  std::uint64_t done() const { return next_ - incomplete(); }
  /// Records that are not complete.
  std::uint64_t incomplete() const { return window() - completed_above_; }
  /// Records from the oldest incomplete one to the newest.
  std::uint64_t window() const { return next_ - oldest_; }
  /// The offset of a record of the window.
  std::int64_t offset_of(Sequence sequence) const;

  /// What is complete above committable(): the first max_runs runs of it.
  CompletionMap completed(std::size_t max_runs) const;
  /// The same as metadata for the commit of committable().
  std::string completion_map(std::size_t max_bytes = default_map_bytes) const;
  /// Another number: records above the oldest incomplete one were completed. When committable() has moved
  /// instead, the number may be the same, but then there is a commit to make anyway.
  std::uint64_t map_version() const { return map_version_; }

 private:
  /// Records from first_sequence on have offsets from first_offset on, up to where the next segment begins.
  struct Segment {
    Sequence first_sequence;
    std::int64_t first_offset;
  };

  // Offset minus sequence before the first record: it makes segment_end() an offset that no record has.
  static constexpr std::int64_t no_segment = std::numeric_limits<std::int64_t>::min();

  std::int64_t segment_end() const { return static_cast<std::int64_t>(next_) + shift_; }
  /// Nothing below is going to be delivered.
  std::int64_t position() const { return std::max(reached_, segment_end()); }
  static std::uint64_t word_of(Sequence sequence) { return sequence / 64; }
  std::uint64_t& word(std::uint64_t index) { return words_[index & (words_.size() - 1)]; }
  std::uint64_t word(std::uint64_t index) const { return words_[index & (words_.size() - 1)]; }
  Sequence find(bool complete, Sequence from) const;
  void begin_segment(std::int64_t first_offset);
  void grow();
  void advance();
  void forget_restored();

  Sequence oldest_ = 0;                // everything below is complete; equals next_ when all is
  Sequence next_ = 0;                  // all that an append in the newest segment changes
  std::int64_t shift_ = no_segment;    // offset minus sequence in the newest segment
  std::int64_t reached_;               // what is below has been delivered, or is not asked for
  std::uint64_t completed_above_ = 0;  // of the window
  std::uint64_t map_version_ = 0;
  // A ring of a power of two words, a bit per record, 1 is complete; zero beyond next_, so appending need not
  // clear.
  std::vector<std::uint64_t> words_;
  std::vector<Segment> segments_;  // those before first_segment_ are of the past
  std::size_t first_segment_ = 0;
  CompletionMap restored_;
};

}  // namespace laneway::lane
