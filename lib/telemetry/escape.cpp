#include "telemetry/escape.h"

#include <algorithm>
#include <cstddef>

#include "base/utf8.h"

namespace laneway::telemetry {
namespace {

unsigned byte_at(std::string_view bytes, std::size_t at) { return static_cast<unsigned char>(bytes[at]); }

void append_hexadecimal(std::string& out, std::string_view prefix, unsigned byte) {
  static constexpr char digits[] = "0123456789abcdef";
  out += prefix;
  out += digits[byte >> 4];
  out += digits[byte & 0xF];
}

/// `backslash` introduces an escape: "\" for text, "\\" inside JSON, whose reader removes one.
void append_safe(std::string& out, std::string_view bytes, std::string_view backslash, bool escape_quotes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t length = utf8_sequence_length(bytes, at);
    const auto sequence = bytes.substr(at, std::max<std::size_t>(length, 1));
    at += sequence.size();
    if (sequence == "\\") {
      out += "\\\\";
    } else if (sequence == "\"" && escape_quotes) {
      out += "\\\"";
    } else if (sequence == "\n") {
      out += "\\n";
    } else if (sequence == "\r") {
      out += "\\r";
    } else if (sequence == "\t") {
      out += "\\t";
    } else if (length == 0 || utf8_control(sequence, 0, length)) {
      for (std::size_t i = 0; i < sequence.size(); ++i)
        append_hexadecimal(out, std::string(backslash) + "x", byte_at(sequence, i));
    } else {
      out += sequence;
    }
  }
}

bool plain(char c) { return c > ' ' && c < 0x7F && c != '"' && c != '\\' && c != '='; }

}  // namespace

void append_escaped(std::string& out, std::string_view bytes) { append_safe(out, bytes, "\\", false); }

std::string excerpt(std::string_view bytes, std::size_t longest) {
  std::string out;
  append_escaped(out, bytes.substr(0, longest));
  if (bytes.size() > longest) out += "...";
  return out;
}

void append_text_value(std::string& out, std::string_view bytes) {
  if (!bytes.empty() && std::all_of(bytes.begin(), bytes.end(), plain)) {
    out += bytes;
    return;
  }
  out += '"';
  append_safe(out, bytes, "\\", true);
  out += '"';
}

void append_json_string(std::string& out, std::string_view bytes) {
  out += '"';
  append_safe(out, bytes, "\\\\", true);
  out += '"';
}

}  // namespace laneway::telemetry
