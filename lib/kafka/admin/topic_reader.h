// Reads the records of a partition, from one offset to another, without joining a group: reading moves
// nobody's partitions.
//
// Ownership: owns a client handle. Threads: one at a time. Blocks: each call up to its deadline.
// Errors: unavailable (brokers, topic, a missing right), timeout, configuration.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/time.h"
#include "kafka/record.h"
#include "kafka/types.h"

namespace laneway::kafka {

/// Offsets [begin, end) of a partition.
struct PartitionSpan {
  TopicPartition partition;
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

class TopicReader {
 public:
  /// Fails if the settings are wrong. Does not contact brokers.
  static Result<std::unique_ptr<TopicReader>> open(const ClientSettings& settings);
  ~TopicReader();

  /// The offsets that the partition holds now.
  Result<PartitionSpan> span(const TopicPartition& partition, Duration timeout);

  /// Begins to read the span, and stops reading the previous span.
  Status start(const PartitionSpan& span);
  struct Next {
    Record record;        ///< Empty if no record came until the deadline, or if the span has ended.
    bool at_end = false;  ///< No record of the span follows.
  };
  /// The next record of the span. If the partition now begins later than the span, or has gaps, this is the
  /// next record that exists. Waits for a broker that is unreachable; `trouble()` then returns the reason.
  Result<Next> next(Deadline deadline);
  /// The client's last error since a record came; empty if there was no error.
  const std::string& trouble() const { return trouble_; }

 private:
  explicit TopicReader(HandlePtr handle) : handle_(std::move(handle)) {}

  HandlePtr handle_;
  PartitionSpan span_;
  bool at_end_ = true;
  std::string trouble_;
};

}  // namespace laneway::kafka
