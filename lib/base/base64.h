// Bytes as printable text: base64 and base64url (RFC 4648, 4 and 5). Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace laneway {

namespace base64_detail {
inline constexpr std::string_view standard_digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
inline constexpr std::string_view url_digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Appends `bytes` in the given digits, without padding.
inline void append(std::string& out, std::string_view bytes, std::string_view digits) {
  std::uint32_t bits = 0;
  unsigned held = 0;
  for (const char c : bytes) {
    bits = (bits << 8) | static_cast<unsigned char>(c);
    for (held += 8; held >= 6; held -= 6) out.push_back(digits[(bits >> (held - 6)) & 63]);
  }
  if (held > 0) out.push_back(digits[(bits << (6 - held)) & 63]);
}
}  // namespace base64_detail

/// Returns base64 with padding.
inline std::string base64(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  base64_detail::append(out, bytes, base64_detail::standard_digits);
  while (out.size() % 4 != 0) out.push_back('=');
  return out;
}

/// Appends base64url without padding.
inline void append_base64url(std::string& out, std::string_view bytes) {
  base64_detail::append(out, bytes, base64_detail::url_digits);
}

namespace base64_detail {
inline std::optional<std::string> decode(std::string_view text, std::string_view digits) {
  std::string bytes;
  bytes.reserve(text.size() * 3 / 4);
  std::uint32_t bits = 0;
  unsigned held = 0;
  for (const char c : text) {
    const auto value = digits.find(c);
    if (value == std::string_view::npos) return {};
    bits = (bits << 6) | static_cast<std::uint32_t>(value);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes.push_back(static_cast<char>((bits >> held) & 0xFF));
  }
  if (held >= 6 || (bits & ((1U << held) - 1)) != 0) return {};
  return bytes;
}
}  // namespace base64_detail

/// The bytes of base64url without padding. nullopt if a character is not of the alphabet, or if the last
/// character has bits set that an encoder leaves zero.
inline std::optional<std::string> decode_base64url(std::string_view text) {
  return base64_detail::decode(text, base64_detail::url_digits);
}

/// The bytes of base64, with or without padding; likewise.
inline std::optional<std::string> decode_base64(std::string_view text) {
  if (text.size() % 4 == 0)
    for (int padding = 0; padding < 2 && text.ends_with('='); ++padding) text.remove_suffix(1);
  return base64_detail::decode(text, base64_detail::standard_digits);
}

}  // namespace laneway
