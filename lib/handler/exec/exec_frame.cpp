#include "handler/exec/exec_frame.h"

#include <optional>
#include <vector>

#include "base/big_endian.h"
#include "handler/format/delivery_id.h"
#include "handler/format/record_json.h"

namespace laneway::handler {
namespace {

using Bytes = std::optional<std::string_view>;

constexpr std::size_t length_size = 4;

void append_bytes(std::string& out, const Bytes& bytes) {
  append_big_endian(out, bytes ? static_cast<std::uint32_t>(bytes->size()) : ~std::uint32_t{0});
  if (bytes) out += *bytes;
}

/// The cluster stands in the delivery id alone, which came later than the frame: where headers are, programs
/// that do not know of it find what they expect.
std::string binary_frame(std::uint64_t id, const Attempt& attempt) {
  const Content& record = attempt.record;
  std::string delivery_id;
  append_delivery_id(delivery_id, attempt);
  auto headers = record.headers(attempt.trace);
  if (!attempt.part.empty()) headers.push_back({part_header, attempt.part});
  headers.push_back({delivery_id_header, delivery_id});
  std::string out(length_size, '\0');
  out.reserve(record.size() + 384);
  out += static_cast<char>(exec_version);
  append_big_endian(out, id);
  append_big_endian(out, static_cast<std::uint32_t>(record.partition()));
  append_big_endian(out, static_cast<std::uint64_t>(record.offset()));
  append_big_endian(out, static_cast<std::uint64_t>(record.timestamp()));
  append_big_endian(out, attempt.number);
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

std::string exec_frame(config::Framing framing, std::uint64_t id, const Attempt& attempt) {
  return framing == config::Framing::json ? record_json(attempt, id) + '\n' : binary_frame(id, attempt);
}

void ExecFrameReader::feed(std::string_view bytes) {
  const auto before = buffer_.size();
  buffer_ += bytes;
  if (line_end_ == buffer_.npos) line_end_ = buffer_.find('\n', before);
}

/// The size of the next frame, with its length or its line's end; npos while the size is not known.
std::size_t ExecFrameReader::size_of_head() const {
  if (framing_ == config::Framing::json) return line_end_ == buffer_.npos ? buffer_.npos : line_end_ + 1;
  if (buffer_.size() < length_size) return buffer_.npos;
  return length_size + read_big_endian<std::uint32_t>(buffer_);
}

ExecFrameReader::State ExecFrameReader::state() const {
  const std::size_t size = size_of_head();
  const std::size_t around = framing_ == config::Framing::json ? 1 : length_size;
  if (size == buffer_.npos) return buffer_.size() > longest_ ? State::too_long : State::incomplete;
  if (size > longest_ + around) return State::too_long;
  return buffer_.size() < size ? State::incomplete : State::complete;
}

std::string_view ExecFrameReader::frame() const {
  const std::string_view whole = std::string_view(buffer_).substr(0, size_of_head());
  return framing_ == config::Framing::json ? whole.substr(0, whole.size() - 1) : whole.substr(length_size);
}

void ExecFrameReader::take() {
  buffer_.erase(0, size_of_head());
  line_end_ = buffer_.find('\n');
}

}  // namespace laneway::handler
