#include "handler/http_request.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace laneway::handler {
namespace {

void append_percent(std::string& out, char c) {
  static constexpr char digits[] = "0123456789ABCDEF";
  const auto byte = static_cast<unsigned char>(c);
  out += '%';
  out += digits[byte >> 4];
  out += digits[byte & 0xF];
}

bool letter_or_digit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

bool unreserved(char c) { return letter_or_digit(c) || c == '-' || c == '.' || c == '_' || c == '~'; }

bool control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }

bool token_character(char c) {
  return letter_or_digit(c) || std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

}  // namespace

std::string percent_encoded(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  for (const char c : bytes) unreserved(c) ? out.push_back(c) : append_percent(out, c);
  return out;
}

std::string without_control_characters(std::string_view value) {
  std::string out;
  out.reserve(value.size());
  for (const char c : value) control(c) ? append_percent(out, c) : out.push_back(c);
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

std::vector<RequestHeader> request_headers(const kafka::Record& record, std::uint32_t attempt,
                                           const std::string& cluster,
                                           const std::vector<std::string>& passed_on,
                                           const AttemptTrace* trace) {
  std::vector<RequestHeader> headers;
  headers.push_back({"Kafka-Topic", percent_encoded(record.topic())});
  headers.push_back({"Kafka-Partition", std::to_string(record.partition())});
  headers.push_back({"Kafka-Offset", std::to_string(record.offset())});
  if (record.timestamp() >= 0) headers.push_back({"Kafka-Timestamp", std::to_string(record.timestamp())});
  if (const auto key = record.key()) headers.push_back({"Kafka-Key", percent_encoded(*key)});
  if (!record.value()) headers.push_back({"Kafka-Tombstone", "true"});
  headers.push_back({"Laneway-Attempt", std::to_string(attempt)});
  const std::string of_cluster = cluster.empty() ? "" : percent_encoded(cluster) + '/';
  headers.push_back({"Laneway-Delivery-Id",
                     of_cluster + headers[0].value + '/' + headers[1].value + '/' + headers[2].value});
  for (const kafka::Header& header : shown_headers(record, trace)) {
    const bool wanted = header.name == telemetry::traceparent_header ||
                        std::find(passed_on.begin(), passed_on.end(), header.name) != passed_on.end();
    if (wanted && header.value)
      headers.push_back({std::string(header.name), without_control_characters(*header.value)});
  }
  return headers;
}

}  // namespace laneway::handler
