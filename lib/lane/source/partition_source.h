// Where a lane's records come from: the seam between the lane and the client, so that lanes can be tested on
// a simulated partition. Threads: the loop's only.
#pragma once

#include <cstdint>
#include <string>

#include "kafka/group/consumer.h"

namespace laneway::lane {

class PartitionSource {
 public:
  virtual ~PartitionSource() = default;
  /// As kafka::PartitionQueue::pop.
  virtual kafka::Pop pop(kafka::Record& record, std::int64_t& offset) = 0;
  virtual std::string last_error() const = 0;
  /// Records that are fetched and not popped.
  virtual std::size_t fetched() const = 0;
  virtual void pause() = 0;
  virtual void resume(std::int64_t next_offset) = 0;
  virtual void seek(std::int64_t next_offset) = 0;
  /// Makes the client fetch now, if fetching sleeps although there is room.
  virtual void wake() = 0;
  /// The log's bounds as last received, or kafka::no_offset. They arrive with fetched records; if nothing is
  /// fetched, use ask_log().
  virtual kafka::LogBounds log_bounds() const = 0;
  /// `find_leader`: the leader that the client has may be the wrong one.
  virtual void ask_log(bool find_leader) = 0;
  virtual kafka::LogAnswer log_answer() const = 0;
};

/// The source that reads from Kafka.
class KafkaSource final : public PartitionSource {
 public:
  /// `on_ready` is called on a client thread when records become available. The consumer outlives this.
  KafkaSource(kafka::Consumer& consumer, kafka::TopicPartition partition, std::function<void()> on_ready);
  /// Resumes a paused partition: the client keeps a pause beyond the assignment, and the partition would stay
  /// silent if it came back to this member.
  ~KafkaSource() override;

  kafka::Pop pop(kafka::Record& record, std::int64_t& offset) override {
    const auto popped = queue_->pop(record, offset);
    if (popped == kafka::Pop::record || popped == kafka::Pop::end_of_partition) asked_ = false;
    return popped;
  }
  std::string last_error() const override { return queue_->last_error(); }
  std::size_t fetched() const override { return queue_->length(); }
  void pause() override {
    report(consumer_.pause(partition_));
    paused_ = true;
  }
  void resume(std::int64_t next_offset) override {
    report(consumer_.resume(partition_, next_offset));
    paused_ = false;
  }
  void seek(std::int64_t next_offset) override { report(consumer_.seek(partition_, next_offset)); }
  void wake() override { consumer_.wake_leader(partition_); }
  kafka::LogBounds log_bounds() const override;
  void ask_log(bool find_leader) override {
    asked_ = true;
    consumer_.ask_log(partition_, find_leader);
  }
  kafka::LogAnswer log_answer() const override { return consumer_.log_answer(partition_); }

 private:
  void report(const Status& status) const;

  kafka::Consumer& consumer_;
  const kafka::TopicPartition partition_;
  const std::unique_ptr<kafka::PartitionQueue> queue_;
  bool paused_ = false;
  bool asked_ = false;  // since the last fetched record; the answers are newer than what fetching delivered
};

std::unique_ptr<PartitionSource> open_kafka_source(kafka::Consumer& consumer,
                                                   const kafka::TopicPartition& partition,
                                                   std::function<void()> on_ready);

}  // namespace laneway::lane
