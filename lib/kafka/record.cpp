#include "kafka/record.h"

#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <new>

namespace laneway::kafka {
namespace {

using Bytes = std::optional<std::string_view>;

Bytes bytes(const void* data, std::size_t size) {
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

/// The fields that a copy gets.
struct Record::Fields {
  std::string_view topic;
  std::int32_t partition;
  std::int64_t offset, timestamp;
  TimestampType timestamp_type;
  Bytes key, value;
  const std::vector<Header>& headers;
  bool borrows_value = false;
};

/// In memory the struct is followed by the sizes of each header, and then by the bytes of topic, key and
/// value, and of each header's name and value. A value that belongs to another record is left out.
struct Record::Copy {
  struct HeaderSizes {
    std::uint32_t name;
    std::int32_t value;  // -1 if null
  };

  const HeaderSizes* sizes() const { return reinterpret_cast<const HeaderSizes*>(this + 1); }
  const char* topic() const { return reinterpret_cast<const char*>(sizes() + header_count); }
  std::size_t own_size() const { return key_size + (borrows_value ? 0 : std::size_t{value_size}); }

  std::int64_t offset, timestamp;
  const char* key;  // null if the key is null
  const char* value;
  std::int32_t partition;
  std::uint32_t key_size, value_size, header_count;
  std::uint16_t topic_size;  // Kafka's longest has 249 characters
  TimestampType timestamp_type;
  bool borrows_value;
};

void Record::copy_from(const Fields& fields) {
  const auto key = fields.key.value_or(""), value = fields.value.value_or("");
  const auto own_value = fields.borrows_value ? std::string_view() : value;
  std::size_t room =
      fields.headers.size() * sizeof(Copy::HeaderSizes) + fields.topic.size() + key.size() + own_value.size();
  for (const Header& header : fields.headers) room += header.name.size() + header.value.value_or("").size();
  auto* const block = static_cast<char*>(::operator new(sizeof(Copy) + room));
  auto* sizes = reinterpret_cast<Copy::HeaderSizes*>(block + sizeof(Copy));
  char* to = reinterpret_cast<char*>(sizes + fields.headers.size());
  to = std::copy(fields.topic.begin(), fields.topic.end(), to);
  const char* const key_at = fields.key ? to : nullptr;
  to = std::copy(key.begin(), key.end(), to);
  const char* const value_at = !fields.value ? nullptr : fields.borrows_value ? value.data() : to;
  to = std::copy(own_value.begin(), own_value.end(), to);
  for (const auto& [name, bytes] : fields.headers) {
    const auto text = bytes.value_or("");
    *sizes++ = {static_cast<std::uint32_t>(name.size()), bytes ? static_cast<std::int32_t>(text.size()) : -1};
    to = std::copy(name.begin(), name.end(), to);
    to = std::copy(text.begin(), text.end(), to);
  }
  new (block) Copy{fields.offset,
                   fields.timestamp,
                   key_at,
                   value_at,
                   fields.partition,
                   static_cast<std::uint32_t>(key.size()),
                   static_cast<std::uint32_t>(value.size()),
                   static_cast<std::uint32_t>(fields.headers.size()),
                   static_cast<std::uint16_t>(fields.topic.size()),
                   fields.timestamp_type,
                   fields.borrows_value};
  owned_.reset(reinterpret_cast<rd_kafka_message_s*>(reinterpret_cast<std::uintptr_t>(block) | copy_bit));
}

void Record::Destroy::operator()(rd_kafka_message_s* owned) const noexcept {
  const auto bits = reinterpret_cast<std::uintptr_t>(owned);
  if ((bits & copy_bit) != 0)
    ::operator delete(reinterpret_cast<void*>(bits - copy_bit));
  else
    rd_kafka_message_destroy(owned);
}

Record::Record(const RecordData& data, const Record* owner) {
  std::vector<Header> headers;
  headers.reserve(data.headers.size());
  for (const auto& [name, value] : data.headers) headers.push_back({name, value});
  copy_from({data.topic, data.partition, data.offset, data.timestamp, data.timestamp_type, data.key,
             owner == nullptr ? Bytes(data.value) : owner->raw_value(), headers, owner != nullptr});
}

std::string_view Record::topic() const {
  if (const Copy* own = copy()) return {own->topic(), own->topic_size};
  return rd_kafka_topic_name(owned_->rkt);
}

std::int32_t Record::partition() const {
  const Copy* own = copy();
  return own != nullptr ? own->partition : owned_->partition;
}

std::int64_t Record::offset() const {
  const Copy* own = copy();
  return own != nullptr ? own->offset : owned_->offset;
}

std::int64_t Record::timestamp() const {
  const Copy* own = copy();
  return own != nullptr ? own->timestamp : rd_kafka_message_timestamp(owned_.get(), nullptr);
}

TimestampType Record::timestamp_type() const {
  if (const Copy* own = copy()) return own->timestamp_type;
  rd_kafka_timestamp_type_t type{};
  rd_kafka_message_timestamp(owned_.get(), &type);
  return to_type(type);
}

std::optional<std::string_view> Record::raw_key() const {
  const Copy* own = copy();
  return own != nullptr ? bytes(own->key, own->key_size) : bytes(owned_->key, owned_->key_len);
}

std::optional<std::string_view> Record::raw_value() const {
  const Copy* own = copy();
  return own != nullptr ? bytes(own->value, own->value_size) : bytes(owned_->payload, owned_->len);
}

std::vector<Header> Record::raw_headers() const {
  std::vector<Header> out;
  if (const Copy* own = copy()) {
    const char* from = own->topic() + own->topic_size + own->own_size();
    for (std::uint32_t i = 0; i < own->header_count; ++i) {
      const auto [name_size, value_size] = own->sizes()[i];
      const std::string_view name(from, name_size);
      from += name_size;
      out.push_back({name, value_size < 0 ? Bytes() : std::string_view(from, value_size)});
      from += std::max(value_size, 0);
    }
    return out;
  }
  rd_kafka_headers_t* headers = nullptr;
  if (rd_kafka_message_headers(owned_.get(), &headers) != RD_KAFKA_RESP_ERR_NO_ERROR) return out;
  const char* name = nullptr;
  const void* value = nullptr;
  std::size_t size = 0;
  for (std::size_t i = 0;
       rd_kafka_header_get_all(headers, i, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR; ++i)
    out.push_back({name, bytes(value, size)});
  return out;
}

std::size_t Record::size() const {
  const Copy* own = copy();
  return own != nullptr ? std::size_t{own->key_size} + own->value_size : owned_->len + owned_->key_len;
}

std::size_t Record::own_size() const { return copy() != nullptr ? copy()->own_size() : size(); }

bool Record::borrows_value() const { return copy() != nullptr && copy()->borrows_value; }

void Record::detach() {
  if (copy() != nullptr || !owned_) return;
  const auto headers = raw_headers();
  copy_from({topic(), partition(), offset(), timestamp(), timestamp_type(), raw_key(), raw_value(), headers});
}

RecordData Record::release_copy() {
  RecordData data{std::string(topic()), partition(),          offset(), timestamp(), timestamp_type(),
                  copy_of(raw_key()),   copy_of(raw_value()), {}};
  for (const Header& header : raw_headers()) data.headers.emplace_back(header.name, copy_of(header.value));
  reset();
  return data;
}

}  // namespace laneway::kafka
