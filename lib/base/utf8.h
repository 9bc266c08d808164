// Finds places where UTF-8 text can be cut, and bytes that are not UTF-8.
//
// Pure functions, callable from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace laneway {

/// The length of the well-formed UTF-8 sequence at `at`, which must be below bytes.size(); 0 if there is none
/// (Unicode 15, table 3-7; RFC 3629).
inline std::size_t utf8_sequence_length(std::string_view bytes, std::size_t at) {
  const auto byte = [&](std::size_t i) -> unsigned {
    return at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0U;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4) return 0;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  const unsigned second = byte(1);
  const bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool surrogate = first == 0xED && second > 0x9F;
  const bool too_high = first == 0xF4 && second > 0x8F;
  return overlong || surrogate || too_high ? 0 : length;
}

/// Whether the sequence at `at`, of `length` bytes by utf8_sequence_length(), is a control character: C0,
/// DEL, or C1, which UTF-8 writes as C2 80 to C2 9F.
inline bool utf8_control(std::string_view bytes, std::size_t at, std::size_t length) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[at + i]); };
  return length == 1 ? byte(0) < 0x20 || byte(0) == 0x7F : length == 2 && byte(0) == 0xC2 && byte(1) < 0xA0;
}

/// The number of ASCII bytes at the beginning, counted in whole machine words, because complete records are
/// checked.
inline std::size_t ascii_length(std::string_view text) {
  std::size_t length = 0;
  for (std::uint64_t word; length + sizeof word <= text.size(); length += sizeof word) {
    std::memcpy(&word, text.data() + length, sizeof word);
    if ((word & 0x8080808080808080U) != 0) break;
  }
  return length;
}

/// The offset of the first byte that is not UTF-8; nullopt if all bytes are UTF-8.
inline std::optional<std::size_t> invalid_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    if (const auto ascii = ascii_length(text.substr(i)); ascii > 0) {
      i += ascii;
      continue;
    }
    const auto length = utf8_sequence_length(text, i);
    if (length == 0) return i;
    i += length;
  }
  return std::nullopt;
}

}  // namespace laneway
