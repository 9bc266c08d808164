#include "handler/record_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "config/text.h"

namespace laneway::handler {
namespace {

using nlohmann::ordered_json;
using Bytes = std::optional<std::string_view>;

bool is_text(const Bytes& bytes) { return !bytes || !config::invalid_utf8(*bytes); }

ordered_json json_value(const Bytes& bytes, bool as_base64) {
  if (!bytes) return nullptr;
  return as_base64 ? base64(*bytes) : std::string(*bytes);
}

}  // namespace

std::string record_json(const kafka::Record& record, std::uint32_t attempt, std::optional<std::uint64_t> id) {
  const auto headers = record.headers();
  const bool as_base64 =
      !is_text(record.key()) || !is_text(record.value()) ||
      !std::all_of(headers.begin(), headers.end(), [](const auto& header) { return is_text(header.value); });
  ordered_json object;
  if (id) object["id"] = *id;
  object["topic"] = std::string(record.topic());
  object["partition"] = record.partition();
  object["offset"] = record.offset();
  object["timestamp"] = record.timestamp();
  object["key"] = json_value(record.key(), as_base64);
  object["value"] = json_value(record.value(), as_base64);
  auto& list = object["headers"] = ordered_json::array();
  for (const kafka::Header& header : headers)
    list.push_back(ordered_json::array({std::string(header.name), json_value(header.value, as_base64)}));
  object["attempt"] = attempt;
  if (as_base64) object["base64"] = true;
  return object.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

std::string base64(std::string_view bytes) {
  static constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const auto group = bytes.substr(at, 3);
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 3; ++i)
      bits = bits << 8 | (i < group.size() ? static_cast<unsigned char>(group[i]) : 0U);
    for (std::size_t i = 0; i < 4; ++i) out += i <= group.size() ? digits[bits >> (18 - 6 * i) & 63] : '=';
  }
  return out;
}

}  // namespace laneway::handler
