// A partition's own queue of fetched records, separate from the group's queue.
//
// Ownership: owns a reference to the client's queue. Must be destroyed before the partition is unassigned and
// before the client is freed. Threads: the consumer loop's thread makes all calls; `on_ready` runs on the
// client's threads and must only signal. Nothing blocks.
//
// Facts of the client library that shaped this class; docs/client-facts.md has the figures of both releases:
// - Records are popped one at a time: the batch call loses records on pause and on incremental rebalances
//   before 2.1, and single pops from un-forwarded queues are cheaper than consumer_poll.
// - The queue is separated ("un-forwarded") from the main queue before the assignment is made; later,
//   messages would slip into the main queue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "kafka/record.h"
#include "kafka/types.h"

namespace laneway::kafka {

enum class Pop {
  record,
  empty,
  end_of_partition,
  corrupt,  ///< The checksum of a batch is wrong; the offset is that of the batch's first record.
  /// A batch cannot be decompressed, because it is corrupt or larger than receive.message.max.bytes;
  /// likewise.
  not_decompressed,
  /// The partition does not exist: its topic was deleted, or a broker does not know the partition yet.
  gone,
  error,
};

/// A partition's own fetch queue. Destroy it before the partition is unassigned.
class PartitionQueue {
 public:
  PartitionQueue(rd_kafka_queue_s* queue, std::function<void()> on_ready);
  ~PartitionQueue();
  PartitionQueue(const PartitionQueue&) = delete;
  PartitionQueue& operator=(const PartitionQueue&) = delete;

  /// Takes the next message, without waiting.
  Pop pop(Record& record, std::int64_t& offset);
  /// The error text of the last pop that returned `error`, `corrupt`, `not_decompressed` or `gone`.
  const std::string& last_error() const { return last_error_; }
  /// The number of messages that are fetched and not popped.
  std::size_t length() const;

  /// For the client's error callback. The client reports some errors of a partition through this callback in
  /// the middle of a pop, and not as messages (a topic that no longer exists). Returns false if no pop is
  /// under way in this thread.
  static bool take_error(int code, const char* text);

 private:
  QueuePtr queue_;
  std::function<void()> on_ready_;  // called when the queue becomes non-empty
  std::string last_error_;
};

}  // namespace laneway::kafka
