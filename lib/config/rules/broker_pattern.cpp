#include "config/rules/broker_pattern.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "config/text.h"

namespace laneway::config {
namespace {

bool repeats(char c) { return c == '*' || c == '+' || c == '?'; }

std::string read_differently(std::string_view piece) {
  return in_quotes(std::string(piece)) + " means something else for brokers than for the client";
}

/// \d, \w, \b, \1, \< and so on; an escaped full stop is the same everywhere.
bool special_escape(char escaped) {
  return std::isalnum(static_cast<unsigned char>(escaped)) != 0 ||
         std::string_view("<>`'").find(escaped) != std::string_view::npos;
}

}  // namespace

std::string check_broker_pattern(const std::string& pattern) {
  const std::string_view text = pattern;
  bool in_brackets = false;
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    const char c = text[i];
    const char next = text[i + 1];
    const auto pair = text.substr(i, 2);
    if (c == '\\' && special_escape(next)) return read_differently(pair);
    if (in_brackets && c == '[' && (next == '.' || next == '=')) return read_differently(pair);
    if (in_brackets && c == '\\' && (next == '-' || next == ']')) return read_differently(pair);
    if (in_brackets) {
      if (c == '[' && next == ':') i = std::min(text.find(":]", i + 2), text.size()) + 1;
      if (c == ']') in_brackets = false;
      continue;
    }
    if ((c == '(' && next == '?') || (c == '{' && next == ',')) return read_differently(pair);
    if ((repeats(c) || c == '}') && repeats(next)) return read_differently(pair);
    if (c == '\\') ++i;
    if (c == '[') in_brackets = true;
  }
  return "";
}

}  // namespace laneway::config
