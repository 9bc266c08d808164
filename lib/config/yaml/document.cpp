#include "config/yaml/document.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <sstream>

#include "base/utf8.h"
#include "config/text.h"
#include "config/yaml/layout.h"
#include "config/yaml/lines.h"
#include "config/yaml/silent_mistakes.h"

namespace laneway::config {
namespace {

Position position_of(const YAML::Mark& mark) {
  if (mark.is_null()) return {};
  return {mark.line + 1, mark.column + 1, static_cast<std::size_t>(mark.pos)};
}

constexpr const char* key_is_no_word = "this key is a list or a map";

/// Ends the reading from inside the parser's callbacks.
struct Refused {
  Fault fault;
};

[[noreturn]] void refuse(Position at, std::string what, std::string hint) {
  throw Refused{{at, "", std::move(what), std::move(hint)}};
}

class Builder final : public YAML::EventHandler {
 public:
  Builder(Document& document, std::string_view text) : document_(document), text_(text) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (documents_++ == 0) return;
    const auto at = position_of(mark);
    if (text_.substr(at.offset).starts_with("---"))
      refuse(at, "a second YAML document begins here", "a configuration is one document: remove this ---");
    throw Refused{behind_document(text_, at)};
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { scalar(mark, "", anchor, "", true); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    refuse(position_of(mark), "found an alias (*name)", "write the value itself: aliases are not supported");
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
    if (anchor != 0) refuse(at, "found an anchor (&name)", "remove the anchor: anchors are not supported");
    if (!tag.empty() && tag != "?" && tag != "!")
      refuse(at, "found the tag " + in_quotes(tag), "remove the tag: tags are not supported");
    if (++nodes_ > max_nodes)
      refuse(at, "the file has more than " + std::to_string(max_nodes) + " values",
             "check that this is the right file");
  }

  void scalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, const std::string& value,
              bool null) {
    const auto at = position_of(mark);
    check(at, tag, anchor);
    if (!levels_.empty() && levels_.back().node->is_map() && !levels_.back().entry) {
      if (null) refuse(at, "the key before the colon is missing", "write KEY: VALUE");
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
    if (key == "<<")
      refuse(at, "found a merge key (<<)", "write the keys themselves: merge keys are not supported");
    Level& level = levels_.back();
    const auto& entries = level.node->entries;
    const auto same =
        std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.key == key; });
    if (same != entries.end())
      document_.faults.push_back({at, path(key), "this key is set twice",
                                  "remove one; the first is in line " + std::to_string(same->position.line)});
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
      refuse(at, "lists and maps are nested deeper than " + std::to_string(max_depth) + " levels",
             "check that this is the right file");
    if (!levels_.empty() && levels_.back().node->is_map() && !levels_.back().entry)
      refuse(at, key_is_no_word,
             "a key is one word: add the ] or } that is missing, or put {{ }} of a template in quotes");
    Node node;
    node.kind = kind;
    node.position = at;
    levels_.push_back({add(std::move(node)), {}});
  }

  void close() {
    levels_.pop_back();
    if (!levels_.empty()) levels_.back().entry.reset();
  }

  /// Adds to the innermost list or map. The address is valid until that list or map grows again, after
  /// `close`.
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
  const std::string_view text_;
  std::vector<Level> levels_;
  int documents_ = 0;
  int nodes_ = 0;
};

/// Bytes that do not belong in a text file. The parser would take some of them for the end of the file.
std::optional<Fault> refuse_bytes(std::string_view text) {
  if (const auto bad = invalid_utf8(text))
    return Fault{position_at(text, *bad), "", "found bytes that are not UTF-8 text",
                 "save the file as UTF-8"};
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c == 0x7f || (c < 0x20 && c != '\t' && c != '\n' && c != '\r'))
      return Fault{position_at(text, i), "", "found the control character " + in_quotes(text.substr(i, 1)),
                   "remove it"};
  }
  return std::nullopt;
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
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (text.starts_with(byte_order_mark))
    text.remove_prefix(byte_order_mark.size());  // positions leave it out
  Document document;
  if (auto fault = refuse_bytes(text)) {
    document.faults.push_back(std::move(*fault));
    return document;
  }
  std::istringstream stream{std::string(text)};
  try {
    YAML::Parser parser(stream);
    Builder builder(document, text);
    while (parser.HandleNextDocument(builder)) {
    }
    auto mistake = find_silent_mistake(text, document.root);
    document.complete = !mistake.has_value();
    if (mistake) document.faults.insert(document.faults.begin(), std::move(*mistake));
  } catch (const Refused& refused) {
    const auto open = refused.fault.what == key_is_no_word ? find_not_closed(text) : std::nullopt;
    document.faults.push_back(open.value_or(refused.fault));
  } catch (const YAML::Exception& e) {
    document.faults.push_back(explain_syntax(text, position_of(e.mark), e.msg));
  }
  return document;
}

}  // namespace laneway::config
