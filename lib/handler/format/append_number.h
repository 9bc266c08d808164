// Appends whole numbers to a text without a temporary string, because this is done for every record. Pure.
#pragma once

#include <array>
#include <charconv>
#include <string>

namespace laneway::handler {

template <typename Number>
void append_number(std::string& out, Number number) {
  std::array<char, 24> digits;  // 64 bits need 20
  out.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr);
}

}  // namespace laneway::handler
