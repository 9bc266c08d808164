// The completed records above a committed offset, and their text form (commit/stored_commit.h).
//
// The text is printable ASCII: "laneway1:" and base64url (RFC 4648, 5, without padding) of varints (LEB128)
// base, then gap and length of each run, then 4 bytes CRC-32C (RFC 3720, B.4; little-endian) over the prefix
// and these varints. The base ties the map to the offset of its commit. The checksum is there because a
// damaged run that still looks plausible would skip records that were never processed.
//
// Runs are over offsets: [begin, end) starts and ends with a record that was delivered and completed; offsets
// between them that were not delivered (compaction, transaction markers, aborted data) count as complete.
// That is safe: offsets are delivered in rising order, so an offset that was passed over is not in the log
// for this group, and offsets are never reused within the life of a topic.
//
// Pure: no threads, no clock; throws nothing except std::bad_alloc.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace laneway::lane {

/// Offsets [begin, end).
struct OffsetRun {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  friend bool operator==(const OffsetRun&, const OffsetRun&) = default;
};

struct CompletionMap {
  /// The committed offset: the oldest record that is not known to be complete.
  std::int64_t base = 0;
  /// In rising order, not adjacent, not empty, and not below base.
  std::vector<OffsetRun> runs;

  bool contains(std::int64_t offset) const;
  friend bool operator==(const CompletionMap&, const CompletionMap&) = default;
};

/// Below the 4096 bytes of metadata that a broker accepts by default (offset.metadata.max.bytes), with some
/// space left.
constexpr std::size_t default_map_bytes = 4000;
/// A longer text is refused unread. This bounds what decoding allocates.
constexpr std::size_t max_map_bytes = 65536;

/// A run takes at least two bytes: more runs do not fit.
constexpr std::size_t most_runs(std::size_t bytes) { return std::min(bytes, max_map_bytes) / 2; }

/// The longest prefix of the runs that fits into max_bytes (and into max_map_bytes); empty if not even one
/// run fits.
std::string encode(const CompletionMap& map, std::size_t max_bytes = default_map_bytes);

struct DecodedMap {
  std::optional<CompletionMap> map;
  /// Why there is no map, for the log. The records are then run again.
  std::string reason;
};

/// Reads the map of a commit of offset `base`. Empty text is a map without runs; anything that encode()
/// would not have written for this offset is refused.
DecodedMap decode(std::string_view text, std::int64_t base);

}  // namespace laneway::lane
