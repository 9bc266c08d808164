#include "handler/format/record_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/base64.h"
#include "base/utf8.h"
#include "handler/format/append_number.h"
#include "handler/format/delivery_id.h"

namespace laneway::handler {
namespace {

using Bytes = std::optional<std::string_view>;

bool is_text(const Bytes& bytes) { return !bytes || !invalid_utf8(*bytes); }

bool stands_for_itself(char c) { return static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\'; }

/// The library escapes special characters, and replaces bytes that are not UTF-8 by U+FFFD. Most texts have
/// neither, and need no copy.
void append_text(std::string& out, std::string_view text) {
  if (!std::all_of(text.begin(), text.end(), stands_for_itself) || invalid_utf8(text)) {
    out += nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    return;
  }
  out += '"';
  out += text;
  out += '"';
}

void append_bytes(std::string& out, const Bytes& bytes, bool as_base64) {
  if (!bytes)
    out += "null";
  else
    append_text(out, as_base64 ? base64(*bytes) : *bytes);
}

template <typename Number>
void append_member(std::string& out, std::string_view member, Number number) {
  out += member;
  append_number(out, number);
}

}  // namespace

// Written without the library: a JSON document in memory would cost more than everything else that is done
// for a record.
std::string record_json(const Attempt& attempt, std::optional<std::uint64_t> id) {
  const Content& record = attempt.record;
  const auto headers = record.headers(attempt.trace);
  const bool as_base64 =
      !is_text(record.key()) || !is_text(record.value()) ||
      !std::all_of(headers.begin(), headers.end(), [](const auto& header) { return is_text(header.value); });
  std::string out;
  out.reserve(record.size() + 384);
  out += '{';
  if (id) append_member(out, R"("id":)", *id);
  out += id ? R"(,"topic":)" : R"("topic":)";
  append_text(out, record.topic());
  append_member(out, R"(,"partition":)", record.partition());
  append_member(out, R"(,"offset":)", record.offset());
  append_member(out, R"(,"timestamp":)", record.timestamp());
  out += R"(,"key":)";
  append_bytes(out, record.key(), as_base64);
  out += R"(,"value":)";
  append_bytes(out, record.value(), as_base64);
  out += R"(,"headers":[)";
  for (const kafka::Header& header : headers) {
    out += out.back() == '[' ? "[" : ",[";
    append_text(out, header.name);
    out += ',';
    append_bytes(out, header.value, as_base64);
    out += ']';
  }
  append_member(out, R"(],"attempt":)", attempt.number);
  out += R"(,"delivery_id":")";
  append_delivery_id(out, attempt);
  out += '"';
  if (!attempt.part.empty()) {
    out += R"(,"part":)";
    append_text(out, attempt.part);
  }
  out += as_base64 ? R"(,"base64":true})" : "}";
  return out;
}

}  // namespace laneway::handler
