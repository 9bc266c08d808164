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

ListPtr list_of(const TopicPartition& partition, std::int64_t offset) {
  ListPtr list = to_list({partition});
  list->elems[0].offset = offset;
  return list;
}

}  // namespace

class TopicReader::Implementation {
 public:
  ~Implementation() {
    if (handle) rd_kafka_assign(handle.get(), nullptr);
  }
  Status open(const ClientSettings& settings);

  PartitionSpan span;
  bool at_end = true;
  std::string trouble;
  HandlePtr handle;
};

Status TopicReader::Implementation::open(const ClientSettings& settings) {
  auto conf = make_conf(settings);
  if (!conf) return conf.error();
  set_own(conf->get(), "enable.auto.commit", "false");
  set_own(conf->get(), "enable.auto.offset.store", "false");
  set_own(conf->get(), "enable.partition.eof", "true");
  set_own(conf->get(), "auto.offset.reset", "earliest");
  set_own(conf->get(), "fetch.wait.max.ms", "50");
  set_own(conf->get(), "queued.max.messages.kbytes", "16384");
  auto made = make_handle(RD_KAFKA_CONSUMER, std::move(conf).value());
  if (!made) return made.error();
  handle = std::move(made).value();
  rd_kafka_poll_set_consumer(handle.get());
  return {};
}

TopicReader::TopicReader(std::unique_ptr<Implementation> implementation)
    : implementation_(std::move(implementation)) {}
TopicReader::~TopicReader() = default;

Result<std::unique_ptr<TopicReader>> TopicReader::open(const ClientSettings& settings) {
  auto implementation = std::make_unique<Implementation>();
  if (auto opened = implementation->open(settings); !opened) return opened.error();
  return std::unique_ptr<TopicReader>(new TopicReader(std::move(implementation)));
}

Result<PartitionSpan> TopicReader::span(const TopicPartition& partition, Duration timeout) {
  const auto deadline = Deadline::in(timeout);
  PartitionSpan span{partition, 0, 0};
  for (;;) {
    const auto wait = std::clamp<Duration>(deadline.left(), milliseconds(1), 4 * request_share);
    const auto code =
        rd_kafka_query_watermark_offsets(implementation_->handle.get(), partition.topic.c_str(),
                                         partition.partition, &span.begin, &span.end, to_ms(wait));
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) return span;
    if (lasting(code) || deadline.passed())
      return client_error(code, "asking for the ends of " + partition.text());
  }
}

Status TopicReader::start(const PartitionSpan& span) {
  auto& self = *implementation_;
  rd_kafka_assign(self.handle.get(), nullptr);
  self.span = span;
  self.trouble.clear();
  self.at_end = span.begin >= span.end;
  if (self.at_end) return {};
  const auto code = rd_kafka_assign(self.handle.get(), list_of(span.partition, span.begin).get());
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return client_error(code, "reading " + span.partition.text());
  return {};
}

Result<TopicReader::Next> TopicReader::next(Deadline deadline) {
  auto& self = *implementation_;
  while (!self.at_end) {
    rd_kafka_message_t* message = rd_kafka_consumer_poll(self.handle.get(), to_ms(deadline.left()));
    if (message == nullptr) return Next{};
    Record record(message);
    const auto code = message->err;
    const bool ours = message->rkt != nullptr &&
                      self.span.partition.topic == rd_kafka_topic_name(message->rkt) &&
                      message->partition == self.span.partition.partition;
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR && ours) {
      self.at_end = message->offset + 1 >= self.span.end;
      self.trouble.clear();
      if (message->offset < self.span.begin) continue;  // the log was truncated and begins again
      if (message->offset < self.span.end) return Next{std::move(record), self.at_end};
    } else if (code == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
      self.at_end = self.at_end || ours;
    } else if (lasting(code)) {
      return client_error(code, "reading " + self.span.partition.text());
    } else if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
      self.trouble = error_text(code, rd_kafka_message_errstr(message));
    }
  }
  return Next{{}, true};
}

const std::string& TopicReader::trouble() const { return implementation_->trouble; }

}  // namespace laneway::kafka
