#include "config/yaml/json.h"

#include <regex.h>

#include <array>
#include <cstdio>
#include <string_view>

#include "config/text.h"

namespace laneway::config {
namespace {

/// By the grammar of RFC 8259, 6.
bool is_number(const std::string& text) {
  static const regex_t grammar = [] {
    regex_t compiled;
    regcomp(&compiled, "^-?(0|[1-9][0-9]*)([.][0-9]+)?([eE][+-]?[0-9]+)?$", REG_EXTENDED | REG_NOSUB);
    return compiled;
  }();
  return regexec(&grammar, text.c_str(), 0, nullptr, 0) == 0;
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
