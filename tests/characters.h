// How wide a text in UTF-8 is on a terminal, as far as tests need it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace laneway {

/// Code points: bytes that do not continue one.
inline std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace laneway
