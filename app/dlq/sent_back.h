// Which dead letters were sent back by `laneway dlq redrive`, from the committed offsets of its group. Pure.
//
// The committed offset of a partition is its first letter that was not sent. The completion map
// that is stored with it names the letters above it that were sent.
#pragma once

#include <map>
#include <utility>

#include "kafka/admin/topic_reader.h"
#include "lane/commit/stored_commit.h"

namespace laneway::dlq {

/// The letters of one partition that were sent back: offsets below `base` and in `runs`. No letter of `span`
/// was sent if nothing is committed, or if the topic was created again since the commit.
inline lane::CompletionMap sent_back_of(const lane::StoredCommit& committed,
                                        const kafka::PartitionSpan& span) {
  const bool recreated = committed.offset > span.end;
  return committed.offset < 0 || recreated ? lane::CompletionMap{span.begin, {}} : committed.map;
}

/// The letters of several partitions.
class SentBack {
 public:
  void add(const kafka::TopicPartition& partition, lane::CompletionMap sent) {
    partitions_[partition] = std::move(sent);
  }
  bool contains(const kafka::TopicPartition& partition, std::int64_t offset) const {
    const auto found = partitions_.find(partition);
    return found != partitions_.end() && (offset < found->second.base || found->second.contains(offset));
  }

 private:
  std::map<kafka::TopicPartition, lane::CompletionMap> partitions_;
};

}  // namespace laneway::dlq
