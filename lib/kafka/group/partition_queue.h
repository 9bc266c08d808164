// A partition's own queue of fetched records, apart from the group's queue.
//
// Ownership: owns a reference to the client's queue, and must be destroyed before the partition is unassigned
// and before the client is freed. Threads: the consumer loop's calls everything; `on_ready` runs on the
// client's threads and must only signal. Nothing blocks.
//
// Facts of the client library that shaped this; docs/client-facts.md has the figures of both releases:
// - Records are popped one at a time: the batch call loses records on pause and on cooperative rebalances
//   before 2.1, and single pops from un-forwarded queues are cheaper than consumer_poll.
// - A queue is un-forwarded before the assignment is made; later, messages slip into the main queue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "kafka/record.h"

struct rd_kafka_queue_s;

namespace laneway::kafka {

enum class Pop {
  record,
  empty,
  end_of_partition,
  corrupt,  ///< A batch fails its checksum; the offset is that of its first record.
  gone,     ///< There is no such partition: its topic was deleted, or a broker does not know it yet.
  error,
};

/// A partition's own fetch queue, un-forwarded. Destroy it before the partition is unassigned.
class PartitionQueue {
 public:
  PartitionQueue(rd_kafka_queue_s* queue, std::function<void()> on_ready);
  ~PartitionQueue();
  PartitionQueue(const PartitionQueue&) = delete;
  PartitionQueue& operator=(const PartitionQueue&) = delete;

  /// The next message, without waiting.
  Pop pop(Record& record, std::int64_t& offset);
  /// What the last pop that answered `error`, `corrupt` or `gone` was about.
  const std::string& last_error() const { return last_error_; }
  /// Messages fetched and not popped.
  std::size_t length() const;

  /// For the client's error callback: errors of a partition that the client does not hand out as messages (a
  /// topic that does not exist any more) are given to the callback in the middle of a pop. False where no pop
  /// is under way in this thread.
  static bool take_error(int code, const char* text);

 private:
  std::unique_ptr<rd_kafka_queue_s, void (*)(rd_kafka_queue_s*)> queue_;
  std::function<void()> on_ready_;  // called when the queue becomes non-empty
  std::string last_error_;
};

}  // namespace laneway::kafka
