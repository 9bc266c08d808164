#include "handler/http/http_request.h"

#include <algorithm>

#include "config/checks/checks.h"
#include "config/text.h"
#include "handler/format/append_number.h"
#include "handler/format/delivery_id.h"

namespace laneway::handler {
namespace {

bool control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }

}  // namespace

std::string without_control_characters(std::string_view value) {
  std::string out;
  out.reserve(value.size());
  for (const char& c : value) control(c) ? append_percent_encoded(out, {&c, 1}) : out.push_back(c);
  return out;
}

bool may_be_passed_on(std::string_view header_name) {
  return config::lower(header_name) == tracing::traceparent_header ||
         config::check_header(header_name).empty();
}

void add_request_headers(const Attempt& attempt, const std::vector<std::string>& passed_on,
                         RequestHeaders& headers) {
  const Content& record = attempt.record;
  const auto number = [&](std::string_view name, auto value) {
    headers.add_with(name, [&](std::string& line) { append_number(line, value); });
  };
  const auto encoded = [&](std::string_view name, std::string_view value) {
    headers.add_with(name, [&](std::string& line) { append_percent_encoded(line, value); });
  };
  encoded("Kafka-Topic", record.topic());
  number("Kafka-Partition", record.partition());
  number("Kafka-Offset", record.offset());
  if (record.timestamp() >= 0) number("Kafka-Timestamp", record.timestamp());
  if (const auto key = record.key()) encoded("Kafka-Key", *key);
  if (!record.value()) headers.add("Kafka-Tombstone", "true");
  number("Laneway-Attempt", attempt.number);
  if (!attempt.part.empty()) encoded(part_header, attempt.part);
  headers.add_with(delivery_id_header, [&](std::string& line) { append_delivery_id(line, attempt); });
  add_passed_on_headers(attempt, passed_on, headers);
}

void add_passed_on_headers(const Attempt& attempt, const std::vector<std::string>& passed_on,
                           RequestHeaders& headers) {
  for (const kafka::Header& header : attempt.record.headers(attempt.trace)) {
    const bool wanted = header.name == tracing::traceparent_header ||
                        std::find(passed_on.begin(), passed_on.end(), header.name) != passed_on.end();
    if (wanted && header.value) headers.add(header.name, without_control_characters(*header.value));
  }
}

}  // namespace laneway::handler
