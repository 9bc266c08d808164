#include "records.h"

#include <iostream>
#include <vector>

#include "client.h"
#include "dump.h"

namespace kafka_tool {

namespace {

std::string to_hex(const void* data, std::size_t size) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < size; ++i) {
    const auto byte = static_cast<const unsigned char*>(data)[i];
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

Json bytes_or_null(const void* data, std::size_t size) {
  return data == nullptr ? Json() : Json(to_hex(data, size));
}

std::string from_hex(const std::string& text) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2)
    bytes += static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16));
  return bytes;
}

std::optional<std::string> bytes_of(const Json& record, const char* name) {
  if (!record.contains(name) || record[name].is_null()) return {};
  return from_hex(record[name].get<std::string>());
}

rd_kafka_headers_t* headers_of(const Json& record) {
  rd_kafka_headers_t* headers = rd_kafka_headers_new(8);
  for (const auto& header : record.value("headers", Json::array())) {
    const auto name = header[0].get<std::string>();
    const auto value = header[1].is_null() ? std::string() : from_hex(header[1].get<std::string>());
    check(
        rd_kafka_header_add(headers, name.data(), static_cast<ssize_t>(name.size()),
                            header[1].is_null() ? nullptr : value.data(), static_cast<ssize_t>(value.size())),
        "header " + name);
  }
  return headers;
}

struct Written {
  std::int32_t partition = -1;
  std::int64_t offset = -1;
  rd_kafka_resp_err_t error = RD_KAFKA_RESP_ERR__IN_PROGRESS;
};

void report(rd_kafka_t* /*client*/, const rd_kafka_message_t* message, void* /*opaque*/) {
  *static_cast<Written*>(message->_private) = {message->partition, message->offset, message->err};
}

void write(rd_kafka_t* client, const std::string& topic, const Json& record, Written& written) {
  auto key = bytes_of(record, "key");
  auto value = bytes_of(record, "value");
  void* key_data = key ? key->data() : nullptr;
  void* value_data = value ? value->data() : nullptr;
  const std::size_t key_size = key ? key->size() : 0;
  const std::size_t value_size = value ? value->size() : 0;
  check(rd_kafka_producev(
            client, RD_KAFKA_V_TOPIC(topic.c_str()), RD_KAFKA_V_PARTITION(record.value("partition", 0)),
            RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_KEY(key_data, key_size),
            RD_KAFKA_V_VALUE(value_data, value_size),
            RD_KAFKA_V_TIMESTAMP(record.value("timestamp", std::int64_t{0})),
            RD_KAFKA_V_HEADERS(headers_of(record)), RD_KAFKA_V_OPAQUE(&written), RD_KAFKA_V_END),
        "produce to " + topic);
}

void print_content(const rd_kafka_message_t& message) {
  Json headers = Json::array();
  rd_kafka_headers_t* all = nullptr;
  if (rd_kafka_message_headers(&message, &all) == RD_KAFKA_RESP_ERR_NO_ERROR) {
    const char* name = nullptr;
    const void* value = nullptr;
    std::size_t size = 0;
    for (std::size_t i = 0;
         rd_kafka_header_get_all(all, i, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR; ++i)
      headers.push_back({name, bytes_or_null(value, size)});
  }
  print({{"partition", message.partition},
         {"offset", message.offset},
         {"timestamp", rd_kafka_message_timestamp(&message, nullptr)},
         {"key", bytes_or_null(message.key, message.key_len)},
         {"value", bytes_or_null(message.payload, message.len)},
         {"headers", headers}});
}

}  // namespace

void write_records(const std::string& bootstrap, const std::string& topic) {
  const auto client =
      connect(bootstrap, {{"enable.idempotence", "true"}, {"message.timeout.ms", "60000"}}, report);
  require_topic(client.get(), topic);
  std::vector<Json> records;
  for (std::string line; std::getline(std::cin, line);) records.push_back(Json::parse(line));
  std::vector<Written> written(records.size());
  for (std::size_t i = 0; i < records.size(); ++i) write(client.get(), topic, records[i], written[i]);
  check(rd_kafka_flush(client.get(), 2 * patience_ms()), "the last acknowledgements");
  for (const auto& [partition, offset, error] : written) {
    check(error, "write to " + topic);
    print({{"partition", partition}, {"offset", offset}});
  }
}

void read_records(const std::string& bootstrap, const std::string& topic) {
  for_each_record(bootstrap, topic, true, print_content);
}

}  // namespace kafka_tool
