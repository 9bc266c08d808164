// JSON that somebody else wrote: an answer of a web service or a program, a record's value, a request.
//
// The library reads such a text without recursion, but copies, compares and prints a value with one: nested
// 130,000 deep it takes the whole stack of a thread, which ends the process. So a text that nests deeper than
// anybody means is treated as no JSON.
//
// For modules that use nlohmann/json. Pure function, callable from any thread.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string_view>

namespace laneway {

/// Of arrays and objects in each other.
inline constexpr std::size_t deepest_json = 500;

/// Whether valid JSON nests deeper than deepest_json.
inline bool nests_too_deep(std::string_view json) {
  std::size_t depth = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (c == '"') {
      in_text = !in_text;
    } else if (in_text) {
      if (c == '\\') ++i;
    } else if (c == '[' || c == '{') {
      if (++depth > deepest_json) return true;
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return false;
}

/// Discarded when `text` is no JSON or nests deeper than deepest_json.
inline nlohmann::json parse_outside_json(std::string_view text) {
  if (nests_too_deep(text)) return nlohmann::json(nlohmann::json::value_t::discarded);
  return nlohmann::json::parse(text, nullptr, false);
}

}  // namespace laneway
