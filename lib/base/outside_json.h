// JSON from outside: an answer of a web service or a program, a record's value, a request.
//
// The library parses such a text without recursion, but copies, compares and prints a value recursively: a
// value nested 130,000 deep uses up the whole stack of a thread, which ends the process. A text that nests
// deeper than anybody intends is therefore treated as invalid JSON.
//
// For modules that use nlohmann/json. Pure function, callable from any thread.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string_view>

namespace laneway {

/// The maximum depth of nested arrays and objects.
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

/// Parses `text`. The result is discarded if `text` is not JSON, or nests deeper than deepest_json.
inline nlohmann::json parse_outside_json(std::string_view text) {
  if (nests_too_deep(text)) return nlohmann::json(nlohmann::json::value_t::discarded);
  return nlohmann::json::parse(text, nullptr, false);
}

}  // namespace laneway
