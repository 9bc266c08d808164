#include "kafka/record.h"

#include <librdkafka/rdkafka.h>

namespace laneway::kafka {
namespace {

std::optional<std::string> owned(std::optional<std::string_view> view) {
  if (!view) return std::nullopt;
  return std::string(*view);
}

std::optional<std::string_view> bytes(const void* data, std::size_t size) {
  if (data == nullptr) return std::nullopt;
  return std::string_view(static_cast<const char*>(data), size);
}

TimestampType to_type(rd_kafka_timestamp_type_t type) {
  switch (type) {
    case RD_KAFKA_TIMESTAMP_CREATE_TIME:
      return TimestampType::create_time;
    case RD_KAFKA_TIMESTAMP_LOG_APPEND_TIME:
      return TimestampType::log_append_time;
    default:
      return TimestampType::none;
  }
}

}  // namespace

std::string_view Record::topic() const {
  return copied() ? std::string_view(data()->topic) : rd_kafka_topic_name(message()->rkt);
}

std::int32_t Record::partition() const { return copied() ? data()->partition : message()->partition; }

std::int64_t Record::offset() const { return copied() ? data()->offset : message()->offset; }

std::int64_t Record::timestamp() const {
  return copied() ? data()->timestamp : rd_kafka_message_timestamp(message(), nullptr);
}

TimestampType Record::timestamp_type() const {
  if (copied()) return data()->timestamp_type;
  rd_kafka_timestamp_type_t type{};
  rd_kafka_message_timestamp(message(), &type);
  return to_type(type);
}

std::optional<std::string_view> Record::key() const {
  if (!copied()) return bytes(message()->key, message()->key_len);
  if (!data()->key) return std::nullopt;
  return std::string_view(*data()->key);
}

std::optional<std::string_view> Record::value() const {
  if (!copied()) return bytes(message()->payload, message()->len);
  if (!data()->value) return std::nullopt;
  return std::string_view(*data()->value);
}

std::vector<Header> Record::headers() const {
  std::vector<Header> out;
  if (copied()) {
    for (const auto& [name, value] : data()->headers)
      out.push_back({name, value ? std::optional<std::string_view>(*value) : std::nullopt});
    return out;
  }
  rd_kafka_headers_t* headers = nullptr;
  if (rd_kafka_message_headers(message(), &headers) != RD_KAFKA_RESP_ERR_NO_ERROR) return out;
  const char* name = nullptr;
  const void* value = nullptr;
  std::size_t size = 0;
  for (std::size_t i = 0;
       rd_kafka_header_get_all(headers, i, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR; ++i)
    out.push_back({name, bytes(value, size)});
  return out;
}

std::size_t Record::size() const {
  if (!copied()) return message()->len + message()->key_len;
  return (data()->key ? data()->key->size() : 0) + (data()->value ? data()->value->size() : 0);
}

void Record::detach() {
  if (copied() || bits_ == 0) return;
  auto copy = std::make_unique<RecordData>();
  copy->topic = topic();
  copy->partition = partition();
  copy->offset = offset();
  copy->timestamp = timestamp();
  copy->timestamp_type = timestamp_type();
  copy->key = owned(key());
  copy->value = owned(value());
  for (const auto& header : headers()) copy->headers.emplace_back(header.name, owned(header.value));
  *this = Record(std::move(copy));
}

std::unique_ptr<RecordData> Record::release_copy() {
  detach();
  std::unique_ptr<RecordData> copy(bits_ == 0 ? nullptr : data());
  bits_ = 0;
  return copy;
}

void Record::destroy() noexcept {
  if (copied())
    delete data();
  else
    rd_kafka_message_destroy(message());
  bits_ = 0;
}

}  // namespace laneway::kafka
