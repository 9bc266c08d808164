#include "kafka/statistics.h"

#include <nlohmann/json.hpp>

namespace laneway::kafka {

std::vector<std::pair<TopicPartition, std::uint64_t>> fetched_bytes(std::string_view statistics) {
  std::vector<std::pair<TopicPartition, std::uint64_t>> bytes;
  const auto root = nlohmann::json::parse(statistics, nullptr, false);
  if (!root.is_object() || !root.contains("topics")) return bytes;
  for (const auto& [name, topic] : root["topics"].items()) {
    if (!topic.contains("partitions")) continue;
    for (const auto& [number, partition] : topic["partitions"].items()) {
      const auto id = partition.value("partition", -1);
      const auto received = partition.value("rxbytes", std::uint64_t{0});
      if (id >= 0 && received > 0) bytes.push_back({{name, id}, received});
    }
  }
  return bytes;
}

}  // namespace laneway::kafka
