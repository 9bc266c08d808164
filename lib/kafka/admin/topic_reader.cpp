#include "kafka/admin/topic_reader.h"

#include <librdkafka/rdkafka.h>

#include <algorithm>

#include "kafka/client/handle.h"

namespace laneway::kafka {
namespace {

/// One request's share of the whole time-out, so that a refusal that the client retries is finally reported.
constexpr Duration request_share = milliseconds(500);

/// Errors that waiting does not resolve.
bool lasting(rd_kafka_resp_err_t code) {
  return code == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED ||
         code == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART || code == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC ||
         code == RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION || code == RD_KAFKA_RESP_ERR__AUTHENTICATION;
}

}  // namespace

Result<std::unique_ptr<TopicReader>> TopicReader::open(const ClientSettings& settings) {
  auto handle = open_consumer(settings, {{"enable.partition.eof", "true"},
                                         {"auto.offset.reset", "earliest"},
                                         {"fetch.wait.max.ms", "50"},
                                         {"queued.max.messages.kbytes", "16384"}});
  if (!handle) return handle.error();
  return std::unique_ptr<TopicReader>(new TopicReader(std::move(handle).value()));
}

TopicReader::~TopicReader() { rd_kafka_assign(handle_.get(), nullptr); }

Result<PartitionSpan> TopicReader::span(const TopicPartition& partition, Duration timeout) {
  const auto deadline = Deadline::in(timeout);
  PartitionSpan span{partition, 0, 0};
  for (;;) {
    const auto wait = std::clamp<Duration>(deadline.left(), milliseconds(1), 4 * request_share);
    const auto code = rd_kafka_query_watermark_offsets(
        handle_.get(), partition.topic.c_str(), partition.partition, &span.begin, &span.end, to_ms(wait));
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) return span;
    if (lasting(code) || deadline.passed())
      return client_error(code, "asking for the ends of " + partition.text());
  }
}

Status TopicReader::start(const PartitionSpan& span) {
  rd_kafka_assign(handle_.get(), nullptr);
  span_ = span;
  trouble_.clear();
  at_end_ = span.begin >= span.end;
  if (at_end_) return {};
  return to_status(rd_kafka_assign(handle_.get(), to_list(span.partition, span.begin).get()),
                   "reading " + span.partition.text());
}

Result<TopicReader::Next> TopicReader::next(Deadline deadline) {
  while (!at_end_) {
    rd_kafka_message_t* message = rd_kafka_consumer_poll(handle_.get(), to_ms(deadline.left()));
    if (message == nullptr) return Next{};
    Record record(message);
    const auto code = message->err;
    const bool ours = message->rkt != nullptr && span_.partition.topic == rd_kafka_topic_name(message->rkt) &&
                      message->partition == span_.partition.partition;
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR && ours) {
      at_end_ = message->offset + 1 >= span_.end;
      trouble_.clear();
      if (message->offset < span_.begin) continue;  // the log was truncated and begins again
      if (message->offset < span_.end) return Next{std::move(record), at_end_};
    } else if (code == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
      at_end_ = at_end_ || ours;
    } else if (lasting(code)) {
      return client_error(code, "reading " + span_.partition.text());
    } else if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
      trouble_ = error_text(code, rd_kafka_message_errstr(message));
    }
  }
  return Next{{}, true};
}

}  // namespace laneway::kafka
