// A run of records as the lane's loop knows it: beside what handlers see, what the loop needs to take the run
// back. Only the loop's thread uses these fields.
#pragma once

#include <cstddef>
#include <cstdint>

#include "handler/record_batch.h"
#include "lane/member/memory_plan.h"

namespace laneway::lane {

/// What a record takes of the lane's share of the memory.
inline std::uint64_t memory_of(const handler::Item& item) { return item.record.size() + record_overhead; }

}  // namespace laneway::lane
