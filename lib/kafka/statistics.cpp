#include "kafka/statistics.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace laneway::kafka {
namespace {

using Json = nlohmann::json;

void read_topics(const Json& topics, Statistics& statistics) {
  for (const auto& [name, topic] : topics.items()) {
    if (!topic.contains("partitions")) continue;
    for (const auto& [number, partition] : topic["partitions"].items()) {
      const auto id = partition.value("partition", -1);
      const auto received = partition.value("rxbytes", std::uint64_t{0});
      const auto leader = partition.value("leader", -1);
      if (id >= 0 && received > 0) statistics.fetched.push_back({{name, id}, received});
      if (id >= 0 && leader >= 0) statistics.leaders.insert({{name, id}, leader});
    }
  }
}

}  // namespace

Statistics read_statistics(std::string_view text) {
  Statistics statistics;
  const auto root = Json::parse(text, nullptr, false);
  if (!root.is_object()) return statistics;
  if (root.contains("topics")) read_topics(root["topics"], statistics);
  if (!root.contains("brokers")) return statistics;
  const auto& brokers = root["brokers"];
  statistics.connected = std::any_of(brokers.begin(), brokers.end(),
                                     [](const Json& broker) { return broker.value("state", "") == "UP"; });
  return statistics;
}

}  // namespace laneway::kafka
