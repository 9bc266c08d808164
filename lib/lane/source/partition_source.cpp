#include "lane/source/partition_source.h"

#include <algorithm>

#include "telemetry/log.h"

namespace laneway::lane {

KafkaSource::KafkaSource(kafka::Consumer& consumer, kafka::TopicPartition partition,
                         std::function<void()> on_ready)
    : consumer_(consumer),
      partition_(std::move(partition)),
      queue_(consumer.open_queue(partition_, std::move(on_ready))) {}

KafkaSource::~KafkaSource() {
  if (paused_) report(consumer_.resume(partition_, kafka::no_offset));
}

void KafkaSource::report(const Status& status) const {
  if (!status)
    telemetry::warn(
        "client request failed",
        {{"topic", partition_.topic}, {"partition", partition_.partition}, {"error", status.error().text()}});
}

kafka::LogBounds KafkaSource::log_bounds() const {
  const auto fetched = consumer_.fetched_bounds(partition_);
  if (!asked_) return fetched;
  const auto answered = consumer_.log_answer(partition_).bounds;
  return {std::max(fetched.start, answered.start), std::max(fetched.end, answered.end),
          fetched.open_transaction};
}

std::unique_ptr<PartitionSource> open_kafka_source(kafka::Consumer& consumer,
                                                   const kafka::TopicPartition& partition,
                                                   std::function<void()> on_ready) {
  return std::make_unique<KafkaSource>(consumer, partition, std::move(on_ready));
}

}  // namespace laneway::lane
