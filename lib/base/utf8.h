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

/// The code point of the sequence at `at`, of `length` bytes by utf8_sequence_length().
inline std::uint32_t utf8_code_point(std::string_view bytes, std::size_t at, std::size_t length) {
  constexpr std::uint32_t of_first[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
  std::uint32_t point = static_cast<unsigned char>(bytes[at]) & of_first[length];
  for (std::size_t i = 1; i < length; ++i)
    point = (point << 6) | (static_cast<unsigned char>(bytes[at + i]) & 0x3F);
  return point;
}

/// Whether the sequence at `at`, of `length` bytes by utf8_sequence_length(), controls how text is shown and
/// shows nothing itself: C0, DEL, C1, the separators of lines and paragraphs, and the marks that change the
/// direction of text, so that it reads as another text (Unicode TR 36, bidirectional text spoofing).
inline bool utf8_control(std::string_view bytes, std::size_t at, std::size_t length) {
  const auto point = utf8_code_point(bytes, at, length);
  const auto within = [point](std::uint32_t first, std::uint32_t last) {
    return point >= first && point <= last;
  };
  return point < 0x20 || within(0x7F, 0x9F) || point == 0x061C || within(0x200E, 0x200F) ||
         within(0x2028, 0x202E) || within(0x2066, 0x2069);
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
