// A YAML text as a tree that remembers where everything was written.
//
// Only what a configuration needs: one document of maps, lists and plain or quoted text. Anchors, aliases,
// tags and several documents are refused, and depth and size are capped, so no text can make the tree much
// larger than itself. Every scalar stays text; what it means is the schema's business. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace laneway::config {

/// Both counted from 1; a line of 0 means that the position is not known.
struct Position {
  int line = 0;
  int column = 0;
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
  /// The text as it was written, where variables were put in: the only form that messages show.
  std::optional<std::string> written;
  /// Messages show neither the text nor, of a map, a key.
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

/// Why a text is refused, in the words of Error.
struct Fault {
  Position position;
  std::string key;
  std::string what;
  std::string hint;
};

struct Document {
  Node root;
  /// Empty when the text was right. Duplicate keys are all found; any other fault ends the reading.
  std::vector<Fault> faults;
  /// The text was read to its end.
  bool complete = false;
};

Document parse_document(std::string_view text);

constexpr int max_depth = 16;
constexpr int max_nodes = 10'000;

}  // namespace laneway::config
