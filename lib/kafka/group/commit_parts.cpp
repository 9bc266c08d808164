#include "kafka/group/commit_parts.h"

#include <utility>

namespace laneway::kafka {
namespace {

// MAX_RECORD_OVERHEAD of Kafka's DefaultRecord is 21. The key has a version, two lengths and the partition
// (10), the value a version, offset, leader epoch, length, time and, since Kafka 4.1, the id of the topic
// (43).
constexpr std::size_t fixed = 21 + 10 + 43;

}  // namespace

std::size_t stored_bytes(const CommittedOffset& offset, std::size_t group) {
  return fixed + group + offset.partition.topic.size() + offset.metadata.size();
}

CommitParts commit_parts(std::vector<CommittedOffset> offsets, std::size_t group, std::size_t most) {
  CommitParts parts;
  std::size_t used = 0;
  for (auto& offset : offsets) {
    const auto bytes = stored_bytes(offset, group);
    if (parts.empty() || used + bytes > most) {
      parts.emplace_back();
      used = 0;
    }
    used += bytes;
    parts.back().push_back(std::move(offset));
  }
  return parts;
}

}  // namespace laneway::kafka
