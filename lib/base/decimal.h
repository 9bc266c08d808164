// Counts in text from outside. Pure.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

namespace laneway {

/// The number if the text is a decimal number and nothing else, from 0 to the largest value of the type.
template <class Integer>
std::optional<Integer> decimal(std::string_view text) {
  Integer number{};
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || rest != end || std::cmp_less(number, 0)) return std::nullopt;
  return number;
}

}  // namespace laneway
