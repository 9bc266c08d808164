// What laneway reads from the client's statistics. Private to this folder.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "kafka/types.h"

namespace laneway::kafka {

/// Bytes of records received so far, by partition, refetched ones counted again. Nothing on text that is not
/// what the library documents.
std::vector<std::pair<TopicPartition, std::uint64_t>> fetched_bytes(std::string_view statistics);

}  // namespace laneway::kafka
