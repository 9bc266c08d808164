// Whole numbers as bytes, with the most significant byte first. Pure.
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>

namespace laneway {

template <std::unsigned_integral Number>
void append_big_endian(std::string& out, Number number) {
  for (std::size_t i = sizeof(Number); i-- > 0;) out += static_cast<char>(number >> (8 * i) & 0xFF);
}

/// Reads a number from the first bytes; there must be enough of them.
template <std::unsigned_integral Number>
Number read_big_endian(std::string_view bytes) {
  Number number = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i)
    number = static_cast<Number>(number << 8 | static_cast<unsigned char>(bytes[i]));
  return number;
}

}  // namespace laneway
