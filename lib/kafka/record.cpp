#include "kafka/record.h"

#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace laneway::kafka {
namespace {

using Bytes = std::optional<std::string_view>;

Bytes view(const std::optional<std::string>& text) {
  return text ? Bytes(std::string_view(*text)) : std::nullopt;
}

std::vector<Header> views(const std::vector<std::pair<std::string, std::optional<std::string>>>& headers) {
  std::vector<Header> views;
  views.reserve(headers.size());
  for (const auto& [name, value] : headers) views.push_back({name, view(value)});
  return views;
}

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

/// The length of a field in a copy.
using Size = std::int32_t;
constexpr Size null_size = -1;

Size size_of(const Bytes& bytes) { return bytes ? static_cast<Size>(bytes->size()) : null_size; }
std::size_t room_of(Size size) { return static_cast<std::size_t>(std::max<Size>(size, 0)); }
std::size_t room_of(const Header& header) {
  return 2 * sizeof(Size) + header.name.size() + room_of(size_of(header.value));
}

char* put(char* to, const Bytes& bytes) {
  if (bytes && !bytes->empty()) std::memcpy(to, bytes->data(), bytes->size());
  return to + room_of(size_of(bytes));
}

char* put(char* to, Size size) {
  std::memcpy(to, &size, sizeof(size));
  return to + sizeof(size);
}

Size get(const char*& from) {
  Size size = 0;
  std::memcpy(&size, from, sizeof(size));
  from += sizeof(size);
  return size;
}

Bytes get(const char*& from, Size size) {
  if (size == null_size) return std::nullopt;
  const std::string_view view(from, room_of(size));
  from += view.size();
  return view;
}

}  // namespace

/// In memory the struct is followed by the bytes of topic, key, value, and of each header: two sizes, name,
/// value. If the value belongs to another record, its address comes first, and its bytes are left out.
struct Record::Copy {
  struct Fields {
    std::string_view topic;
    std::int32_t partition;
    std::int64_t offset, timestamp;
    TimestampType timestamp_type;
    Bytes key, value;
    const std::vector<Header>& headers;
    bool borrows_value = false;
  };

  static std::uintptr_t make(const Fields& fields);
  const char* begin() const { return reinterpret_cast<const char*>(this + 1); }
  const char* topic() const { return begin() + (borrows_value ? sizeof(const char*) : 0); }
  const char* key() const { return topic() + topic_size; }
  const char* after_key() const { return key() + room_of(key_size); }
  const char* value() const { return borrows_value ? borrowed() : after_key(); }
  const char* headers() const { return after_key() + own_value_size(); }
  std::size_t own_value_size() const { return borrows_value ? 0 : room_of(value_size); }
  const char* borrowed() const {
    const char* address = nullptr;
    std::memcpy(&address, begin(), sizeof(address));
    return address;
  }

  std::int64_t offset, timestamp;
  std::int32_t partition;
  Size key_size, value_size;
  std::uint32_t header_count;
  std::uint16_t topic_size;  // Kafka's longest has 249 characters
  TimestampType timestamp_type;
  bool borrows_value;
};

std::uintptr_t Record::Copy::make(const Fields& fields) {
  std::size_t room = fields.topic.size() + room_of(size_of(fields.key)) +
                     (fields.borrows_value ? sizeof(const char*) : room_of(size_of(fields.value)));
  for (const Header& header : fields.headers) room += room_of(header);
  void* place = ::operator new(sizeof(Copy) + room);
  new (place) Copy{fields.offset,
                   fields.timestamp,
                   fields.partition,
                   size_of(fields.key),
                   size_of(fields.value),
                   static_cast<std::uint32_t>(fields.headers.size()),
                   static_cast<std::uint16_t>(fields.topic.size()),
                   fields.timestamp_type,
                   fields.borrows_value};
  char* to = static_cast<char*>(place) + sizeof(Copy);
  if (fields.borrows_value) {
    const char* const address = fields.value ? fields.value->data() : nullptr;
    std::memcpy(to, &address, sizeof(address));
    to += sizeof(address);
  }
  to = put(put(to, fields.topic), fields.key);
  if (!fields.borrows_value) to = put(to, fields.value);
  for (const Header& header : fields.headers) {
    to = put(put(to, size_of(header.name)), size_of(header.value));
    to = put(put(to, header.name), header.value);
  }
  return reinterpret_cast<std::uintptr_t>(place) | copy_bit;
}

Record::Record(const RecordData& data) {
  const auto headers = views(data.headers);
  bits_ = Copy::make({data.topic, data.partition, data.offset, data.timestamp, data.timestamp_type,
                      view(data.key), view(data.value), headers});
}

Record::Record(const RecordData& data, const Record& owner) {
  const auto headers = views(data.headers);
  bits_ = Copy::make({data.topic, data.partition, data.offset, data.timestamp, data.timestamp_type,
                      view(data.key), owner.raw_value(), headers, true});
}

std::string_view Record::topic() const {
  return copied() ? std::string_view(copy()->topic(), copy()->topic_size)
                  : rd_kafka_topic_name(message()->rkt);
}

std::int32_t Record::partition() const { return copied() ? copy()->partition : message()->partition; }

std::int64_t Record::offset() const { return copied() ? copy()->offset : message()->offset; }

std::int64_t Record::timestamp() const {
  return copied() ? copy()->timestamp : rd_kafka_message_timestamp(message(), nullptr);
}

TimestampType Record::timestamp_type() const {
  if (copied()) return copy()->timestamp_type;
  rd_kafka_timestamp_type_t type{};
  rd_kafka_message_timestamp(message(), &type);
  return to_type(type);
}

std::optional<std::string_view> Record::raw_key() const {
  if (!copied()) return bytes(message()->key, message()->key_len);
  const char* from = copy()->key();
  return get(from, copy()->key_size);
}

std::optional<std::string_view> Record::raw_value() const {
  if (!copied()) return bytes(message()->payload, message()->len);
  const char* from = copy()->value();
  return get(from, copy()->value_size);
}

std::vector<Header> Record::raw_headers() const {
  std::vector<Header> out;
  if (copied()) {
    const char* from = copy()->headers();
    for (std::uint32_t i = 0; i < copy()->header_count; ++i) {
      const Size name = get(from);
      const Size value = get(from);
      const Bytes name_bytes = get(from, name);
      out.push_back({*name_bytes, get(from, value)});
    }
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
  return room_of(copy()->key_size) + room_of(copy()->value_size);
}

std::size_t Record::own_size() const {
  return copied() ? room_of(copy()->key_size) + copy()->own_value_size() : size();
}

bool Record::borrows_value() const { return copied() && copy()->borrows_value; }

void Record::detach() {
  if (copied() || bits_ == 0) return;
  const auto headers = raw_headers();
  Record detached;
  detached.bits_ = Copy::make(
      {topic(), partition(), offset(), timestamp(), timestamp_type(), raw_key(), raw_value(), headers});
  *this = std::move(detached);
}

RecordData Record::release_copy() {
  RecordData data{std::string(topic()), partition(),          offset(), timestamp(), timestamp_type(),
                  copy_of(raw_key()),   copy_of(raw_value()), {}};
  for (const Header& header : raw_headers()) data.headers.emplace_back(header.name, copy_of(header.value));
  reset();
  return data;
}

void Record::destroy() noexcept {
  if (copied())
    ::operator delete(copy());
  else
    rd_kafka_message_destroy(message());
  bits_ = 0;
}

}  // namespace laneway::kafka
