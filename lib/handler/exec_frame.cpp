#include "handler/exec_frame.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "config/text.h"
#include "handler/exec_bytes.h"

namespace laneway::handler {
namespace {

using nlohmann::ordered_json;
using Bytes = std::optional<std::string_view>;

constexpr std::size_t length_size = 4;

bool is_text(const Bytes& bytes) { return !bytes || !config::invalid_utf8(*bytes); }

ordered_json json_value(const Bytes& bytes, bool as_base64) {
  if (!bytes) return nullptr;
  return as_base64 ? base64(*bytes) : std::string(*bytes);
}

std::string json_frame(const ExecRequest& request) {
  const kafka::Record& record = request.record;
  const auto headers = record.headers();
  const bool as_base64 =
      !is_text(record.key()) || !is_text(record.value()) ||
      !std::all_of(headers.begin(), headers.end(), [](const auto& header) { return is_text(header.value); });
  ordered_json line = {{"id", request.id},
                       {"topic", std::string(record.topic())},
                       {"partition", record.partition()},
                       {"offset", record.offset()},
                       {"timestamp", record.timestamp()},
                       {"key", json_value(record.key(), as_base64)},
                       {"value", json_value(record.value(), as_base64)}};
  auto& list = line["headers"] = ordered_json::array();
  for (const kafka::Header& header : headers)
    list.push_back(ordered_json::array({std::string(header.name), json_value(header.value, as_base64)}));
  line["attempt"] = request.attempt;
  if (as_base64) line["base64"] = true;
  return line.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + '\n';
}

void append_bytes(std::string& out, const Bytes& bytes) {
  append_big_endian(out, bytes ? static_cast<std::uint32_t>(bytes->size()) : ~std::uint32_t{0});
  if (bytes) out += *bytes;
}

std::string binary_frame(const ExecRequest& request) {
  const kafka::Record& record = request.record;
  const auto headers = record.headers();
  std::string out(length_size, '\0');
  out.reserve(record.size() + 256);
  out += static_cast<char>(exec_version);
  append_big_endian(out, request.id);
  append_big_endian(out, static_cast<std::uint32_t>(record.partition()));
  append_big_endian(out, static_cast<std::uint64_t>(record.offset()));
  append_big_endian(out, static_cast<std::uint64_t>(record.timestamp()));
  append_big_endian(out, request.attempt);
  append_bytes(out, record.topic());
  append_bytes(out, record.key());
  append_bytes(out, record.value());
  append_big_endian(out, static_cast<std::uint32_t>(headers.size()));
  for (const kafka::Header& header : headers) {
    append_bytes(out, header.name);
    append_bytes(out, header.value);
  }
  std::string length;
  append_big_endian(length, static_cast<std::uint32_t>(out.size() - length_size));
  return out.replace(0, length_size, length);
}

}  // namespace

std::string exec_frame(config::Framing framing, const ExecRequest& request) {
  return framing == config::Framing::json ? json_frame(request) : binary_frame(request);
}

/// Of a complete frame with its length or its line's end; npos while that is not known.
std::size_t ExecFrameReader::size_of_head() const {
  if (framing_ == config::Framing::json) {
    const auto end = buffer_.find('\n');
    return end == buffer_.npos ? buffer_.npos : end + 1;
  }
  if (buffer_.size() < length_size) return buffer_.npos;
  return length_size + read_big_endian<std::uint32_t>(buffer_);
}

ExecFrameReader::State ExecFrameReader::state() const {
  constexpr std::size_t longest = longest_exec_answer;
  const std::size_t size = size_of_head();
  const std::size_t around = framing_ == config::Framing::json ? 1 : length_size;
  if (size == buffer_.npos) return buffer_.size() > longest ? State::too_long : State::incomplete;
  if (size > longest + around) return State::too_long;
  return buffer_.size() < size ? State::incomplete : State::complete;
}

std::string_view ExecFrameReader::frame() const {
  const std::string_view whole = std::string_view(buffer_).substr(0, size_of_head());
  return framing_ == config::Framing::json ? whole.substr(0, whole.size() - 1) : whole.substr(length_size);
}

void ExecFrameReader::take() { buffer_.erase(0, size_of_head()); }

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
