#include "config/yaml/document.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <sstream>

#include "base/utf8.h"
#include "config/text.h"

namespace laneway::config {
namespace {

Position position_of(const YAML::Mark& mark) {
  return mark.is_null() ? Position{} : Position{mark.line + 1, mark.column + 1};
}

/// Ends the reading from inside the parser's callbacks.
struct Refused {
  Fault fault;
};

[[noreturn]] void refuse(Position at, std::string what, std::string hint) {
  throw Refused{{at, "", std::move(what), std::move(hint)}};
}

class Builder final : public YAML::EventHandler {
 public:
  explicit Builder(Document& document) : document_(document) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (documents_++ > 0)
      refuse(position_of(mark), "a second YAML document starts", "one document; remove this ---");
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { scalar(mark, "", anchor, "", true); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    refuse(position_of(mark), "found an alias (*name)", "the value itself; aliases are not supported");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    scalar(mark, tag, anchor, value, false);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, Node::Kind::list);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, Node::Kind::map);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Level {
    Node* node;
    std::optional<Entry> entry;  // a map's key that waits for its value
  };

  void check(Position at, const std::string& tag, YAML::anchor_t anchor) {
    if (anchor != 0) refuse(at, "found an anchor (&name)", "the value without it; anchors are not supported");
    if (!tag.empty() && tag != "?" && tag != "!")
      refuse(at, "found the tag " + in_quotes(tag), "the value without it; tags are not supported");
    if (++nodes_ > max_nodes)
      refuse(at, "the file has more than " + std::to_string(max_nodes) + " values", "far fewer");
  }

  void scalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, const std::string& value,
              bool null) {
    const auto at = position_of(mark);
    check(at, tag, anchor);
    if (!levels_.empty() && levels_.back().node->is_map() && !levels_.back().entry) {
      if (null) refuse(at, "a key is missing before the colon", "key: value");
      begin_entry(at, value);
      return;
    }
    Node node;
    node.kind = null ? Node::Kind::null : Node::Kind::scalar;
    node.position = at;
    node.text = value;
    node.plain = tag == "?";
    add(std::move(node));
  }

  void begin_entry(Position at, const std::string& key) {
    Level& level = levels_.back();
    const auto& entries = level.node->entries;
    const auto same =
        std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.key == key; });
    if (same != entries.end())
      document_.faults.push_back(
          {at, path(key), "the key is there twice",
           "one of them; the first is in line " + std::to_string(same->position.line)});
    level.entry = Entry{key, at, {}};
  }

  /// The dotted name of a key of the innermost map.
  std::string path(const std::string& key) const {
    std::string name;
    for (const Level& level : levels_)
      if (level.entry) name += level.entry->key + ".";
    return name + key;
  }

  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, Node::Kind kind) {
    const auto at = position_of(mark);
    check(at, tag, anchor);
    if (levels_.size() >= max_depth)
      refuse(at, "lists and maps are nested deeper than " + std::to_string(max_depth), "far fewer levels");
    if (!levels_.empty() && levels_.back().node->is_map() && !levels_.back().entry)
      refuse(at, "a key is a list or a map", "one word as a key; or a ] or } is missing");
    Node node;
    node.kind = kind;
    node.position = at;
    levels_.push_back({add(std::move(node)), {}});
  }

  void close() {
    levels_.pop_back();
    if (!levels_.empty()) levels_.back().entry.reset();
  }

  /// Adds to the innermost list or map. The address holds until that one grows again, which is after `close`.
  Node* add(Node node) {
    if (levels_.empty()) {
      document_.root = std::move(node);
      return &document_.root;
    }
    Level& level = levels_.back();
    if (level.node->is_list()) return &level.node->items.emplace_back(std::move(node));
    const bool leaf = !node.is_list() && !node.is_map();
    if (node.is_null()) node.position = level.entry->position;  // the parser's is that of what follows
    auto& entry =
        level.node->entries.emplace_back(Entry{level.entry->key, level.entry->position, std::move(node)});
    if (leaf) level.entry.reset();
    return &entry.value;
  }

  Document& document_;
  std::vector<Level> levels_;
  int documents_ = 0;
  int nodes_ = 0;
};

/// Of the byte at `offset`; columns in bytes, as the parser counts them.
Position position_at(std::string_view text, std::size_t offset) {
  const auto before = text.substr(0, offset);
  const auto newline = before.rfind('\n');
  const auto start = newline == before.npos ? 0 : newline + 1;
  return {static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1,
          static_cast<int>(offset - start) + 1};
}

/// Bytes that have no place in a text file; the parser would take some of them for the file's end.
std::optional<Fault> refuse_bytes(std::string_view text) {
  if (const auto bad = invalid_utf8(text))
    return Fault{position_at(text, *bad), "", "found bytes that are not UTF-8 text", "a YAML file in UTF-8"};
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c == 0x7f || (c < 0x20 && c != '\t' && c != '\n' && c != '\r'))
      return Fault{position_at(text, i), "", "found the control character " + in_quotes(text.substr(i, 1)),
                   "text without control characters"};
  }
  return std::nullopt;
}

/// For what YAML's own message does not make clear: a brace begins a map inside braces and brackets.
std::string syntax_hint(std::string_view text, Position at) {
  for (int line = 1; line < at.line; ++line) text.remove_prefix(std::min(text.find('\n') + 1, text.size()));
  const bool variable = text.substr(0, text.find('\n')).find("${") != text.npos;
  return variable ? "inside { } and [ ] a variable needs quotes: \"${NAME}\"" : "";
}

}  // namespace

Node key_node(const Entry& entry) {
  Node node = scalar_node(entry.key, entry.position);
  node.hidden = entry.value.hidden;
  return node;
}

Node scalar_node(std::string text, Position position) {
  Node node;
  node.kind = Node::Kind::scalar;
  node.position = position;
  node.text = std::move(text);
  return node;
}

Document parse_document(std::string_view text) {
  Document document;
  if (auto fault = refuse_bytes(text)) {
    document.faults.push_back(std::move(*fault));
    return document;
  }
  std::istringstream stream{std::string(text)};
  try {
    YAML::Parser parser(stream);
    Builder builder(document);
    while (parser.HandleNextDocument(builder)) {
    }
    document.complete = true;
  } catch (const Refused& refused) {
    document.faults.push_back(refused.fault);
  } catch (const YAML::Exception& e) {
    const auto at = position_of(e.mark);
    document.faults.push_back({at, "", "the YAML cannot be read: " + e.msg, syntax_hint(text, at)});
  }
  return document;
}

}  // namespace laneway::config
