#include <librdkafka/rdkafka.h>

#include "kafka/consumer.h"
#include "kafka/handle.h"

namespace laneway::kafka {

PartitionQueue::PartitionQueue(rd_kafka_queue_s* queue, std::function<void()> on_ready)
    : queue_(queue, rd_kafka_queue_destroy), on_ready_(std::move(on_ready)) {
  rd_kafka_queue_forward(queue_.get(), nullptr);
  rd_kafka_queue_cb_event_enable(
      queue_.get(), [](rd_kafka_t*, void* self) { static_cast<PartitionQueue*>(self)->on_ready_(); }, this);
}

PartitionQueue::~PartitionQueue() {
  // The library calls back under the queue's lock, so after this returns no callback is under way.
  rd_kafka_queue_cb_event_enable(queue_.get(), nullptr, nullptr);
}

Pop PartitionQueue::pop(Record& record, std::int64_t& offset) {
  rd_kafka_message_t* message = rd_kafka_consume_queue(queue_.get(), 0);
  if (message == nullptr) return Pop::empty;
  offset = message->offset;
  if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
    record = Record(message);
    return Pop::record;
  }
  const bool end = message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF;
  if (!end) last_error_ = error_text(message->err, rd_kafka_message_errstr(message));
  rd_kafka_message_destroy(message);
  return end ? Pop::end_of_partition : Pop::error;
}

std::size_t PartitionQueue::length() const { return rd_kafka_queue_length(queue_.get()); }

}  // namespace laneway::kafka
