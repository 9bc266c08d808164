#include "kafka/group/partition_queue.h"

#include <librdkafka/rdkafka.h>

#include "kafka/client/handle.h"

namespace laneway::kafka {
namespace {

/// The error that the callback received.
struct TakenError {
  rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR_NO_ERROR;
  std::string text;
};
/// The error of the pop that is under way in this thread.
thread_local TakenError* error_of_pop = nullptr;

/// Corruption found by the client's checks (check.crcs) or by the broker's checks.
bool is_corrupt(rd_kafka_resp_err_t code) {
  return code == RD_KAFKA_RESP_ERR__BAD_MSG || code == RD_KAFKA_RESP_ERR_INVALID_MSG;
}

bool is_gone(rd_kafka_resp_err_t code) {
  return code == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART || code == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC ||
         code == RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION;
}

Pop kind_of(rd_kafka_resp_err_t code) {
  if (is_corrupt(code)) return Pop::corrupt;
  if (code == RD_KAFKA_RESP_ERR__BAD_COMPRESSION) return Pop::not_decompressed;
  return is_gone(code) ? Pop::gone : Pop::error;
}

}  // namespace

bool PartitionQueue::take_error(int code, const char* text) {
  if (error_of_pop == nullptr) return false;
  *error_of_pop = {static_cast<rd_kafka_resp_err_t>(code), text};
  return true;
}

PartitionQueue::PartitionQueue(rd_kafka_queue_s* queue, std::function<void()> on_ready)
    : queue_(queue), on_ready_(std::move(on_ready)) {
  rd_kafka_queue_forward(queue_.get(), nullptr);
  rd_kafka_queue_cb_event_enable(
      queue_.get(), [](rd_kafka_t*, void* self) { static_cast<PartitionQueue*>(self)->on_ready_(); }, this);
}

PartitionQueue::~PartitionQueue() {
  // The library makes callbacks under the queue's lock, so no callback is under way after this call returns.
  rd_kafka_queue_cb_event_enable(queue_.get(), nullptr, nullptr);
}

Pop PartitionQueue::pop(Record& record, std::int64_t& offset) {
  TakenError error;
  error_of_pop = &error;
  rd_kafka_message_t* message = rd_kafka_consume_queue(queue_.get(), 0);
  error_of_pop = nullptr;
  if (message == nullptr) {
    if (error.text.empty()) return Pop::empty;
    last_error_ = error.text;
    return kind_of(error.code);
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
  return end ? Pop::end_of_partition : kind_of(code);
}

std::size_t PartitionQueue::length() const { return rd_kafka_queue_length(queue_.get()); }

}  // namespace laneway::kafka
