#include <librdkafka/rdkafka.h>

#include "kafka/consumer.h"
#include "kafka/handle.h"

namespace laneway::kafka {
namespace {

/// Of the pop that is under way in this thread.
thread_local std::string* error_of_pop = nullptr;

/// By the client's checks (check.crcs, decompression), or by the broker's own.
bool is_corrupt(rd_kafka_resp_err_t code) {
  return code == RD_KAFKA_RESP_ERR__BAD_MSG || code == RD_KAFKA_RESP_ERR__BAD_COMPRESSION ||
         code == RD_KAFKA_RESP_ERR_INVALID_MSG;
}

}  // namespace

bool PartitionQueue::take_error(const char* text) {
  if (error_of_pop == nullptr) return false;
  *error_of_pop = text;
  return true;
}

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
  error_.clear();
  error_of_pop = &error_;
  rd_kafka_message_t* message = rd_kafka_consume_queue(queue_.get(), 0);
  error_of_pop = nullptr;
  if (message == nullptr) {
    if (error_.empty()) return Pop::empty;
    last_error_ = error_;
    return Pop::error;
  }
  offset = message->offset;
  if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
    record = Record(message);
    return Pop::record;
  }
  const auto code = message->err;
  const bool end = code == RD_KAFKA_RESP_ERR__PARTITION_EOF;
  if (!end) last_error_ = error_text(code, rd_kafka_message_errstr(message));
  rd_kafka_message_destroy(message);
  if (end) return Pop::end_of_partition;
  return is_corrupt(code) ? Pop::corrupt : Pop::error;
}

std::size_t PartitionQueue::length() const { return rd_kafka_queue_length(queue_.get()); }

}  // namespace laneway::kafka
