#include "kafka/producer.h"

#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <array>

#include "kafka/handle.h"

namespace laneway::kafka {
namespace {

std::array<rd_kafka_vu_t, 5> fields_of(const TopicPartition& to, std::optional<std::string_view> key,
                                       std::string_view value) {
  std::array<rd_kafka_vu_t, 5> fields{};
  fields[0].vtype = RD_KAFKA_VTYPE_TOPIC;
  fields[0].u.cstr = to.topic.c_str();
  fields[1].vtype = RD_KAFKA_VTYPE_PARTITION;
  fields[1].u.i32 = to.partition;
  fields[2].vtype = RD_KAFKA_VTYPE_MSGFLAGS;
  fields[2].u.i = RD_KAFKA_MSG_F_COPY;
  fields[3].vtype = RD_KAFKA_VTYPE_KEY;
  fields[3].u.mem = {key ? const_cast<char*>(key->data()) : nullptr, key ? key->size() : 0};
  fields[4].vtype = RD_KAFKA_VTYPE_VALUE;
  fields[4].u.mem = {const_cast<char*>(value.data()), value.size()};
  return fields;
}

}  // namespace

class Producer::Implementation {
 public:
  // Before the handle: delivery reports of its last moments still count.
  std::uint64_t acknowledged = 0;
  std::uint64_t failed = 0;
  HandlePtr handle;
};

Producer::Producer(std::unique_ptr<Implementation> implementation)
    : implementation_(std::move(implementation)) {}
Producer::~Producer() = default;

Result<std::unique_ptr<Producer>> Producer::create(const ClientSettings& settings) {
  auto conf = make_conf(settings);
  if (!conf) return conf.error();
  set_own(conf->get(), "acks", "all");
  auto implementation = std::make_unique<Implementation>();
  rd_kafka_conf_set_opaque(conf->get(), implementation.get());
  rd_kafka_conf_set_dr_msg_cb(conf->get(), [](rd_kafka_t*, const rd_kafka_message_t* message, void* opaque) {
    auto* self = static_cast<Implementation*>(opaque);
    ++(message->err == RD_KAFKA_RESP_ERR_NO_ERROR ? self->acknowledged : self->failed);
  });
  auto handle = make_handle(RD_KAFKA_PRODUCER, std::move(conf).value());
  if (!handle) return handle.error();
  implementation->handle = std::move(handle).value();
  return std::unique_ptr<Producer>(new Producer(std::move(implementation)));
}

Status Producer::send(const TopicPartition& to, std::optional<std::string_view> key, std::string_view value,
                      Deadline deadline) {
  auto* handle = implementation_->handle.get();
  auto fields = fields_of(to, key, value);
  for (;;) {
    const ErrorPtr error(rd_kafka_produceva(handle, fields.data(), fields.size()));
    rd_kafka_poll(handle, 0);
    if (!error) return {};
    const auto code = rd_kafka_error_code(error.get());
    if (code != RD_KAFKA_RESP_ERR__QUEUE_FULL || deadline.passed())
      return client_error(code, "producing to " + to.text());
    rd_kafka_poll(handle, to_ms(std::min<Duration>(deadline.left(), milliseconds(50))));
  }
}

bool Producer::flush(Deadline deadline) {
  return rd_kafka_flush(implementation_->handle.get(), to_ms(deadline.left())) == RD_KAFKA_RESP_ERR_NO_ERROR;
}

std::uint64_t Producer::acknowledged() const { return implementation_->acknowledged; }
std::uint64_t Producer::failed() const { return implementation_->failed; }

}  // namespace laneway::kafka
