// A run of records as the lane's loop knows it: beside what handlers see, what the loop needs to take the run
// back. Only the loop's thread uses these fields.
#pragma once

#include <cstddef>
#include <cstdint>

#include "handler/record_batch.h"
#include "lane/member/memory_plan.h"

namespace laneway::lane {

class WorkBatch final : public handler::RecordBatch {
 public:
  /// Items not finished yet; at zero the batch is used again.
  std::uint32_t unfinished = 0;
  /// The sequence numbers of the items are consecutive.
  bool consecutive = false;
  /// Memory of the records, for the lane's budget; given back when the whole batch is finished.
  std::uint64_t bytes = 0;
  /// Bytes of its records whose work was not finished in it: they go on in another batch.
  std::uint64_t unfinished_bytes = 0;
  /// Which life of the lane's ledger the sequence numbers belong to.
  std::uint64_t life = 0;
  /// Place in the lane's list of batches.
  std::size_t place = 0;
};

/// What the lane has given to its pool are batches of this class.
inline WorkBatch& batch_of(const pool::Range& range) { return static_cast<WorkBatch&>(*range.batch); }

/// What a record takes of the lane's share of the memory.
inline std::uint64_t memory_of(const handler::Item& item) { return item.record.size() + record_overhead; }

}  // namespace laneway::lane
