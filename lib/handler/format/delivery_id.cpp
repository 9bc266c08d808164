#include "handler/format/delivery_id.h"

#include <algorithm>

#include "handler/format/append_number.h"

namespace laneway::handler {
namespace {

bool unreserved(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-' || c == '.' ||
         c == '_' || c == '~';
}

}  // namespace

void append_percent_encoded(std::string& out, std::string_view bytes) {
  static constexpr char digits[] = "0123456789ABCDEF";
  while (!bytes.empty()) {
    const auto end = std::find_if_not(bytes.begin(), bytes.end(), unreserved);
    out.append(bytes.begin(), end);
    bytes.remove_prefix(static_cast<std::size_t>(end - bytes.begin()));
    if (bytes.empty()) return;
    const auto byte = static_cast<unsigned char>(bytes.front());
    out += '%';
    out += digits[byte >> 4];
    out += digits[byte & 0xF];
    bytes.remove_prefix(1);
  }
}

void append_delivery_id(std::string& out, const Attempt& attempt) {
  if (!attempt.cluster.empty()) {
    append_percent_encoded(out, attempt.cluster);
    out += '/';
  }
  append_percent_encoded(out, attempt.record.topic());
  out += '/';
  append_number(out, attempt.record.partition());
  out += '/';
  append_number(out, attempt.record.offset());
  if (attempt.part.empty()) return;
  out += '/';
  append_percent_encoded(out, attempt.part);
}

}  // namespace laneway::handler
