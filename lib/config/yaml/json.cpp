#include "config/yaml/json.h"

#include <array>
#include <cstdio>
#include <string_view>

#include "config/text.h"

namespace laneway::config {
namespace {

std::size_t digits(std::string_view text, std::size_t from) {
  std::size_t count = 0;
  while (from + count < text.size() && text[from + count] >= '0' && text[from + count] <= '9') ++count;
  return count;
}

/// By the grammar of RFC 8259, 6.
bool is_number(std::string_view text) {
  std::size_t at = text.starts_with('-') ? 1 : 0;
  const std::size_t whole = digits(text, at);
  if (whole == 0 || (whole > 1 && text[at] == '0')) return false;
  at += whole;
  if (at < text.size() && text[at] == '.') {
    const std::size_t fraction = digits(text, at + 1);
    if (fraction == 0) return false;
    at += 1 + fraction;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    const std::size_t exponent = digits(text, at);
    if (exponent == 0) return false;
    at += exponent;
  }
  return at == text.size();
}

bool is_string(const Node& scalar) {
  const auto& text = scalar.text;
  return !scalar.plain || !(text == "true" || text == "false" || is_number(text));
}

std::string quoted_json(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      std::array<char, 8> code;
      std::snprintf(code.data(), code.size(), "\\u%04x", static_cast<unsigned>(c));
      out += code.data();
    } else {
      out += c;
    }
  }
  return out + '"';
}

/// `scalar` and `key` say how those are written; lists and maps are the same in JSON and in YAML's flow
/// style.
template <class Scalar, class Key>
std::string flow(const Node& node, Scalar scalar, Key key) {
  std::vector<std::string> parts;
  switch (node.kind) {
    case Node::Kind::null:
      return "null";
    case Node::Kind::scalar:
      return scalar(node);
    case Node::Kind::list:
      for (const Node& item : node.items) parts.push_back(flow(item, scalar, key));
      return "[" + join(parts, ", ") + "]";
    case Node::Kind::map:
      break;
  }
  for (const Entry& entry : node.entries)
    parts.push_back(key(entry.key) + ": " + flow(entry.value, scalar, key));
  return "{" + join(parts, ", ") + "}";
}

}  // namespace

std::string json_of(const Node& node) {
  return flow(
      node, [](const Node& scalar) { return is_string(scalar) ? quoted_json(scalar.text) : scalar.text; },
      quoted_json);
}

std::string shown_yaml(const Node& node) {
  const auto scalar = [](const Node& value) {
    if (value.written) return quoted_json(*value.written);
    return is_string(value) ? std::string("\"*****\"") : value.text;
  };
  return flow(node, scalar, quoted_json);
}

}  // namespace laneway::config
