#include "stories/copies.h"

#include <charconv>
#include <string>

namespace laneway::stories {
namespace {

constexpr const char* copy_header = "story-copy";

Copy number_in(std::string_view text) {
  Copy number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::string_view last_header(const rd_kafka_headers_t* headers, const char* name) {
  const void* value = nullptr;
  std::size_t size = 0;
  if (headers == nullptr ||
      rd_kafka_header_get_last(headers, name, &value, &size) != RD_KAFKA_RESP_ERR_NO_ERROR)
    return {};
  return text_of(value, size);
}

}  // namespace

Copy copy_in(const rd_kafka_message_t& message) {
  rd_kafka_headers_t* headers = nullptr;
  (void)rd_kafka_message_headers(&message, &headers);
  return number_in(last_header(headers, copy_header));
}

Copy copy_in(const handler::Content& record) {
  Copy copy = 0;
  for (const auto& header : record.headers())
    if (header.name == copy_header) copy = number_in(header.value.value_or(""));
  return copy;
}

void set_copy(rd_kafka_headers_t* headers, Copy copy) {
  (void)rd_kafka_header_remove(headers, copy_header);
  if (copy == 0) return;
  const auto text = std::to_string(copy);
  (void)rd_kafka_header_add(headers, copy_header, -1, text.data(), static_cast<ssize_t>(text.size()));
}

Produced Produced::of(const std::vector<rd_kafka_vu_t>& fields) {
  Produced produced;
  auto& writing = produced.writing;
  for (const auto& field : fields) {
    if (field.vtype == RD_KAFKA_VTYPE_TOPIC) writing.topic = field.u.cstr;
    if (field.vtype == RD_KAFKA_VTYPE_TIMESTAMP) writing.timestamp = field.u.i64;
    if (field.vtype == RD_KAFKA_VTYPE_VALUE) writing.value = text_of(field.u.mem.ptr, field.u.mem.size);
    if (field.vtype == RD_KAFKA_VTYPE_HEADERS) produced.headers = field.u.headers;
  }
  writing.of = number_in(last_header(produced.headers, copy_header));
  writing.parked = !last_header(produced.headers, "laneway-retry-waiting-since").empty();
  return produced;
}

}  // namespace laneway::stories
