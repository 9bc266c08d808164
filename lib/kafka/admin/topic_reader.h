// Reads what a partition holds, from one offset to another, without being a member of any group: nobody's
// partitions move because of it.
//
// Ownership: owns a client handle. Threads: one at a time. Blocks: each call up to its deadline.
// Errors: unavailable (brokers, topic, a missing right), timeout, configuration.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

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
  /// Fails when the settings are wrong; brokers are not contacted yet.
  static Result<std::unique_ptr<TopicReader>> open(const ClientSettings& settings);
  ~TopicReader();

  /// What the partition holds now.
  Result<PartitionSpan> span(const TopicPartition& partition, Duration timeout);

  /// Begins to read the span; ends what was read before.
  Status start(const PartitionSpan& span);
  struct Next {
    Record record;        ///< Empty: none came until the deadline, or the span is at its end.
    bool at_end = false;  ///< Nothing of the span follows.
  };
  /// Where the partition begins later than the span by now, or has gaps, the next record there is. A broker
  /// that is out is waited for; `trouble()` tells.
  Result<Next> next(Deadline deadline);
  /// What the client last complained about since a record came; empty when it did not.
  const std::string& trouble() const;

 private:
  class Implementation;
  explicit TopicReader(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace laneway::kafka
