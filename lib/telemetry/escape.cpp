#include "telemetry/escape.h"

#include <algorithm>
#include <cstddef>

namespace laneway::telemetry {
namespace {

unsigned byte_at(std::string_view bytes, std::size_t at) { return static_cast<unsigned char>(bytes[at]); }

bool continuation(std::string_view bytes, std::size_t at) {
  return at < bytes.size() && (byte_at(bytes, at) & 0xC0) == 0x80;
}

/// Length of the well-formed UTF-8 sequence at `at`, 0 where there is none (Unicode 15, table 3-7).
std::size_t sequence_length(std::string_view bytes, std::size_t at) {
  const unsigned first = byte_at(bytes, at);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if (!continuation(bytes, at + i)) return 0;
  const unsigned second = byte_at(bytes, at + 1);
  const bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool surrogate = first == 0xED && second > 0x9F;
  const bool too_high = first == 0xF4 && second > 0x8F;
  return overlong || surrogate || too_high ? 0 : length;
}

/// C0, DEL, and C1, which UTF-8 writes as C2 80 to C2 9F.
bool control(std::string_view sequence) {
  const unsigned first = byte_at(sequence, 0);
  return first < 0x20 || first == 0x7F || (first == 0xC2 && byte_at(sequence, 1) < 0xA0);
}

void append_hexadecimal(std::string& out, std::string_view prefix, unsigned byte) {
  static constexpr char digits[] = "0123456789abcdef";
  out += prefix;
  out += digits[byte >> 4];
  out += digits[byte & 0xF];
}

/// `backslash` is what introduces an escape: "\" for text, "\\" inside JSON, whose reader takes one off.
void append_safe(std::string& out, std::string_view bytes, std::string_view backslash, bool escape_quotes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t length = sequence_length(bytes, at);
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
    } else if (length == 0 || control(sequence)) {
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
