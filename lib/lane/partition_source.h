// Where a lane's records come from: a seam between the lane and the client, so that lanes can be tested on a
// simulated partition. Called by the loop's thread only.
#pragma once

#include <cstdint>
#include <string>

#include "kafka/consumer.h"

namespace laneway::lane {

class PartitionSource {
 public:
  virtual ~PartitionSource() = default;
  /// As kafka::PartitionQueue::pop.
  virtual kafka::Pop pop(kafka::Record& record, std::int64_t& offset) = 0;
  virtual std::string last_error() const = 0;
  /// Records fetched and not popped.
  virtual std::size_t fetched() const = 0;
  virtual void pause() = 0;
  virtual void resume(std::int64_t next_offset) = 0;
  virtual void seek(std::int64_t next_offset) = 0;
  /// Fetching may be asleep though there is room: end that.
  virtual void wake() = 0;
  /// The log's end as last heard, or kafka::no_offset.
  virtual std::int64_t high_watermark() const = 0;
  /// While it is paused: ask for the log's end.
  virtual void ask_log_end() = 0;
};

/// The real one.
class KafkaSource final : public PartitionSource {
 public:
  /// `on_ready` is called on a client thread when records become available. The consumer outlives this.
  KafkaSource(kafka::Consumer& consumer, kafka::TopicPartition partition, std::function<void()> on_ready);
  /// Lifts a pause: the client keeps it beyond the assignment, and the partition would stay silent if it came
  /// back to this member.
  ~KafkaSource() override;

  kafka::Pop pop(kafka::Record& record, std::int64_t& offset) override { return queue_->pop(record, offset); }
  std::string last_error() const override { return queue_->last_error(); }
  std::size_t fetched() const override { return queue_->length(); }
  void pause() override;
  void resume(std::int64_t next_offset) override;
  void seek(std::int64_t next_offset) override;
  void wake() override { consumer_.wake_leader(partition_); }
  std::int64_t high_watermark() const override;
  void ask_log_end() override { consumer_.ask_log_end(partition_); }

 private:
  void report(const Status& status) const;

  kafka::Consumer& consumer_;
  const kafka::TopicPartition partition_;
  const std::unique_ptr<kafka::PartitionQueue> queue_;
  bool paused_ = false;
};

}  // namespace laneway::lane
