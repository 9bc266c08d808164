#include "handler/http/http_request.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "handler/format/append_number.h"
#include "handler/format/delivery_id.h"
#include "handler/format/shown_headers.h"

namespace laneway::handler {
namespace {

bool letter_or_digit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

bool control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }

bool token_character(char c) {
  return letter_or_digit(c) || std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

}  // namespace

std::string without_control_characters(std::string_view value) {
  std::string out;
  out.reserve(value.size());
  for (const char& c : value) control(c) ? append_percent_encoded(out, {&c, 1}) : out.push_back(c);
  return out;
}

bool may_be_passed_on(std::string_view header_name) {
  static constexpr std::array<std::string_view, 12> taken = {
      "host", "content-length", "content-type", "transfer-encoding", "connection", "expect",
      "te",   "trailer",        "upgrade",      "keep-alive",        "user-agent", "accept"};
  std::string name(header_name);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
  return !name.empty() && std::all_of(name.begin(), name.end(), token_character) &&
         !name.starts_with("kafka-") && !name.starts_with("laneway-") && !name.starts_with("proxy-") &&
         std::find(taken.begin(), taken.end(), name) == taken.end();
}

void add_request_headers(const Attempt& attempt, const std::vector<std::string>& passed_on,
                         RequestHeaders& headers) {
  const kafka::Record& record = attempt.record;
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
  headers.add_with(delivery_id_header, [&](std::string& line) { append_delivery_id(line, attempt); });
  for (const kafka::Header& header : shown_headers(record, attempt.trace)) {
    const bool wanted = header.name == tracing::traceparent_header ||
                        std::find(passed_on.begin(), passed_on.end(), header.name) != passed_on.end();
    if (wanted && header.value) headers.add(header.name, without_control_characters(*header.value));
  }
}

}  // namespace laneway::handler
