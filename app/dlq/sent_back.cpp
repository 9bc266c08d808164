#include "app/dlq/sent_back.h"

#include <utility>

namespace laneway::dlq {

lane::CompletionMap sent_back_of(const lane::StoredCommit& committed, const kafka::PartitionSpan& span) {
  const bool recreated = committed.offset > span.end;
  if (committed.offset < 0 || recreated) return {span.begin, {}};
  return committed.map;
}

void SentBack::add(const kafka::TopicPartition& partition, lane::CompletionMap sent) {
  partitions_[partition] = std::move(sent);
}

bool SentBack::contains(const kafka::TopicPartition& partition, std::int64_t offset) const {
  const auto found = partitions_.find(partition);
  return found != partitions_.end() && (offset < found->second.base || found->second.contains(offset));
}

}  // namespace laneway::dlq
