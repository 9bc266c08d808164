// A run of records as the lane's loop sees it: in addition to what handlers see, the fields that the loop
// needs to take the run back. Only the loop's thread uses these fields, except for `line`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "handler/record_batch.h"
#include "lane/shared/memory_plan.h"

namespace laneway::lane {

class Line;

/// How much of the lane's share of the memory a record uses.
inline std::uint64_t memory_of(const handler::Item& item) {
  const bool has_origin = item.progress && item.progress->origin;
  return item.record.own_size() + (has_origin ? item.progress->origin.own_size() : 0) + record_overhead;
}

class WorkBatch final : public handler::RecordBatch {
 public:
  /// The line of every item. Workers read it too.
  Line* line = nullptr;
  /// Items that are not finished yet; at zero the batch is used again.
  std::uint32_t unfinished = 0;
  /// Items that were taken out of claims that still ran.
  std::uint32_t left_early = 0;
  /// The sequence numbers of the items are consecutive.
  bool consecutive = false;
  /// Memory of the unfinished records, about, for the lane's budget.
  std::uint64_t bytes = 0;
  /// Keys and values of the records, without those that continue in another batch.
  std::uint64_t size_in_bytes = 0;
  /// Which life of the lane's ledger the sequence numbers belong to.
  std::uint64_t life = 0;
  /// Place in the lane's list of batches.
  std::size_t place = 0;

  void add(handler::Item item) {
    count(item);
    items.push_back(std::move(item));
  }
  /// Adds the item, which is in the batch, to the sums.
  void count(const handler::Item& item) {
    const auto length = item.record.size();
    size_in_bytes += length;
    bytes +=
        item.progress ? memory_of(item) : length + record_overhead;  // the same, and the size is read once
  }
  /// Takes the item, which leaves the batch before it has begun, out of the sums.
  void discount(const handler::Item& item) {
    bytes -= memory_of(item);
    size_in_bytes -= item.record.size();
  }
};

/// The batches that a lane gives to its pool are of this class.
inline WorkBatch& batch_of(const pool::Range& range) { return static_cast<WorkBatch&>(*range.batch); }

}  // namespace laneway::lane
