#include "config/yaml/silent_mistakes.h"

#include <algorithm>
#include <string>
#include <vector>

#include "config/text.h"
#include "config/yaml/layout.h"
#include "config/yaml/lines.h"

namespace laneway::config {
namespace {

bool is_item(const TextLine& line) { return line.text.starts_with("- "); }

Fault swallowed(const TextLine& line, const TextLine& above) {
  const Position at{line.number, static_cast<int>(line.indentation) + 1};
  if (!is_item(above))
    return fault(
        at,
        "an item of a list cannot begin here, because line " + std::to_string(above.number) + " has a value",
        "write the key alone in its line, and each item in a line below it");
  return fault(at,
               "this item is indented by " + counted(line.indentation, "space") + ", the item in line " +
                   std::to_string(above.number) + " above by " + counted(above.indentation, "space"),
               "items of one list need the same indentation");
}

/// An item that is indented further than the text above is a part of that text.
std::optional<Fault> swallowed_item(const std::vector<TextLine>& lines, const Node& value) {
  const auto has = [&](std::string_view part) { return value.text.find(part) != value.text.npos; };
  if (!value.plain || !(has(" - ") || has("\n- "))) return std::nullopt;  // the latter behind an empty line
  const TextLine& above = lines[static_cast<std::size_t>(value.position.line) - 1];
  const auto next = std::find_if_not(lines.begin() + above.number, lines.end(), is_empty);
  if (next == lines.end() || !is_item(*next) || next->indentation <= above.indentation) return std::nullopt;
  return swallowed(*next, above);
}

/// A key at the end of its group needs no colon to be a key without a value.
std::optional<Fault> missing_colon(std::string_view text, const Entry& entry) {
  if (!entry.value.is_null()) return std::nullopt;
  const auto at = entry.position.offset;
  const auto rest = text.substr(at);
  const bool explicit_key = text.substr(0, at).ends_with("? ");
  if (explicit_key || !rest.starts_with(entry.key)) return std::nullopt;
  const auto behind = rest.substr(entry.key.size());
  const bool colon = behind.substr(std::min(behind.find_first_not_of(' '), behind.size())).starts_with(':');
  if (colon || entry.key.find(':') != entry.key.npos) return std::nullopt;
  return fault(entry.position, "the colon after the key is missing",
               "write " + printable(entry.key.substr(0, entry.key.find_first_of(" ="))) + ": and the value");
}

std::optional<Fault> unclosed_quote(std::string_view text, const Node& value) {
  const auto at = value.position.offset;
  if (!value.is_scalar() || value.plain || at >= text.size()) return std::nullopt;
  const bool quoted = text[at] == '"' || text[at] == '\'';
  if (!quoted || end_of_quote(text, at) != text.npos) return std::nullopt;
  return not_closed(text, at);
}

std::optional<Fault> find_in_tree(std::string_view text, const std::vector<TextLine>& lines,
                                  const Node& node) {
  if (auto found = unclosed_quote(text, node)) return found;
  if (auto found = swallowed_item(lines, node)) return found;
  for (const Node& item : node.items)
    if (auto found = find_in_tree(text, lines, item)) return found;
  for (const Entry& entry : node.entries) {
    if (auto found = missing_colon(text, entry)) return found;
    if (auto found = find_in_tree(text, lines, entry.value)) return found;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Fault> find_silent_mistake(std::string_view text, const Node& root) {
  return find_in_tree(text, lines_of(text), root);
}

Fault behind_document(std::string_view text, Position at) {
  const auto lines = lines_of(text);
  const auto first = std::find_if_not(lines.begin(), lines.end(), is_empty);
  const auto indentation = static_cast<std::size_t>(std::max(at.column, 1)) - 1;
  if (first != lines.end() && first->indentation > indentation && first->text.find(':') != first->text.npos)
    return fault({first->number, static_cast<int>(first->indentation) + 1},
                 "this line is indented by " + counted(first->indentation, "space") + ", line " +
                     std::to_string(at.line) + " below by " + counted(indentation, "space"),
                 "keys of one group need the same indentation");
  return fault(at, "text follows the end of the value above",
               "write the configuration as lines of KEY: VALUE");
}

}  // namespace laneway::config
