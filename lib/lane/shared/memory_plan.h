// How lanes.memory is shared out: the client's prefetch buffers, and the records that each lane may have
// taken.
//
// The client fixes its buffers when it is made, so the buffers are planned for every partition of the
// subscription: for any assignment, the sum stays within the budget. A quarter of a partition's share is
// prefetched, a quarter may be taken into the lane, and half is left for what cannot be counted exactly: the
// overshoot of one fetch, buffers pinned by single records (a message keeps the whole fetch response alive
// that it came in, or the whole batch if the batch was compressed), the allocator.
//
// The limits of a fetch count compressed bytes. The bundled client fetches and decompresses as much as fills
// its buffer (patch 13), and overshoots by one batch at most. Other clients decompress all that they fetched
// (docs/tuning.md).
//
// A record costs the client about 500 bytes in addition to its own size (measured on 2.0.2 with 200-byte
// records), so records are counted as well as bytes. Pure.
#pragma once

#include <cstdint>

#include "kafka/types.h"

namespace laneway::lane {

/// Memory of a record in addition to its key and value.
inline constexpr std::uint64_t record_overhead = 512;

/// A lane may have taken 1/parts_of_a_share of its partition's share.
inline constexpr std::uint64_t parts_of_a_share = 4;

/// The memory is divided among at least so many partitions: room for those that are added, or that match a
/// pattern later.
inline constexpr std::uint64_t fewest_partitions = 16;

struct MemoryPlan {
  kafka::FetchLimits fetch;
  /// Bytes (with overhead) of records that one lane may have taken and not finished. A single larger record
  /// is still taken. What the records become in further pools may use as much again
  /// (lane/stage/result_memory.h).
  std::uint64_t lane_bytes = 0;
  std::uint64_t partitions = 0;  ///< that share the budget
};

/// For `partitions` partitions on `brokers` brokers, read by `consumers` members of this process.
MemoryPlan plan_memory(std::uint64_t budget, std::uint64_t partitions, std::uint64_t brokers,
                       std::uint64_t consumers);

}  // namespace laneway::lane
