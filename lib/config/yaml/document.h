// A YAML text as a tree that remembers the position of each value.
//
// It supports what a configuration needs: one document of maps, lists and plain or quoted text. Anchors,
// aliases, tags and several documents are refused, and depth and size are limited, so that no text can make
// the tree much larger than itself. Every scalar stays text; the schema decides its meaning. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace laneway::config {

/// Line and column are counted from 1. A line of 0 means that the position is not known.
struct Position {
  int line = 0;
  int column = 0;
  std::size_t offset = 0;  ///< of the value in the text, as the parser reports it; 0 for other positions
};

struct Entry;

struct Node {
  enum class Kind { null, scalar, list, map };

  Kind kind = Kind::null;
  Position position;
  std::string text;            ///< of a scalar
  bool plain = false;          ///< of a scalar: written without quotes
  std::vector<Node> items;     ///< of a list
  std::vector<Entry> entries;  ///< of a map, in the order of the text
  /// The text as it was written, if variables were replaced in it. Messages show only this form.
  std::optional<std::string> written;
  /// Messages show neither the text nor the keys of a map.
  bool hidden = false;

  bool is_scalar() const { return kind == Kind::scalar; }
  bool is_list() const { return kind == Kind::list; }
  bool is_map() const { return kind == Kind::map; }
  bool is_null() const { return kind == Kind::null; }
};

Node scalar_node(std::string text, Position position);

struct Entry {
  std::string key;
  Position position;
  Node value;
};

/// The key as a value, for messages.
Node key_node(const Entry& entry);

/// Why a text is refused; becomes an Error.
struct Fault {
  Position position;
  std::string key;
  std::string what;
  std::string hint;
};

struct Document {
  Node root;
  /// Empty if the text is right. All duplicate keys are found; any other fault ends the reading.
  std::vector<Fault> faults;
  /// Whether the text was read to its end.
  bool complete = false;
};

Document parse_document(std::string_view text);

constexpr int max_depth = 16;
constexpr int max_nodes = 10'000;

}  // namespace laneway::config
