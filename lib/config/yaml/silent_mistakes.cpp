#include "config/yaml/silent_mistakes.h"

#include <algorithm>
#include <string>

#include "config/text.h"
#include "config/yaml/layout.h"
#include "config/yaml/lines.h"

namespace laneway::config {
namespace {

bool is_item(const Line& line) { return line.text.starts_with("- "); }

/// "- orders" or "topics: orders": a text without quotes or brackets, which goes on in lines that are
/// indented further.
bool is_plain(const Line& line) {
  auto value = line.text;
  const auto colon = value.find(": ");
  if (!is_item(line) && colon == value.npos) return false;
  value.remove_prefix(is_item(line) ? 2 : colon + 2);
  return !value.empty() && value.find_first_of(":\"'[]{}|>#&") == value.npos;
}

Fault swallowed(const Line& line, const Line& above) {
  const Position at{line.number, static_cast<int>(line.indentation) + 1};
  if (!is_item(above))
    return fault(
        at,
        "an item of a list cannot begin here, because line " + std::to_string(above.number) + " has a value",
        "write the key alone in its line, and each item in a line below it");
  return fault(at,
               "this item is indented by " + spaces(line.indentation) + ", the item in line " +
                   std::to_string(above.number) + " above by " + spaces(above.indentation),
               "items of one list need the same indentation");
}

/// An item that is indented further than the text above is a part of that text.
std::optional<Fault> find_swallowed_item(std::string_view text) {
  std::optional<Line> above;
  std::size_t block = std::string_view::npos;  // the indentation of the line that begins a block of text
  for (const Line& line : lines_of(text)) {
    if (is_empty(line) || line.indentation > block) continue;
    block = line.text.find_first_of("|>") != line.text.npos ? line.indentation : std::string_view::npos;
    if (above && is_item(line) && is_plain(*above) && line.indentation > above->indentation)
      return swallowed(line, *above);
    above = line;
  }
  return std::nullopt;
}

/// A key at the end of its group needs no colon to be a key without a value.
std::optional<Fault> missing_colon(std::string_view text, const Entry& entry) {
  if (!entry.value.is_null()) return std::nullopt;
  const auto at = offset_of(text, entry.position);
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
  if (!value.is_scalar() || value.plain) return std::nullopt;
  const auto at = offset_of(text, value.position);
  if (at >= text.size()) return std::nullopt;
  const bool quoted = text[at] == '"' || text[at] == '\'';
  if (!quoted || end_of_quote(text, at) != text.npos) return std::nullopt;
  return not_closed(text, at);
}

std::optional<Fault> find_in_tree(std::string_view text, const Node& node) {
  if (auto found = unclosed_quote(text, node)) return found;
  for (const Node& item : node.items)
    if (auto found = find_in_tree(text, item)) return found;
  for (const Entry& entry : node.entries) {
    if (auto found = missing_colon(text, entry)) return found;
    if (auto found = find_in_tree(text, entry.value)) return found;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Fault> find_silent_mistake(std::string_view text, const Node& root) {
  if (auto found = find_in_tree(text, root)) return found;
  return find_swallowed_item(text);
}

Fault behind_document(std::string_view text, Position at) {
  const auto lines = lines_of(text);
  const auto first = std::find_if_not(lines.begin(), lines.end(), is_empty);
  const auto indentation = static_cast<std::size_t>(std::max(at.column, 1)) - 1;
  if (first != lines.end() && first->indentation > indentation && first->text.find(':') != first->text.npos)
    return fault({first->number, static_cast<int>(first->indentation) + 1},
                 "this line is indented by " + spaces(first->indentation) + ", line " +
                     std::to_string(at.line) + " below by " + spaces(indentation),
                 "keys of one group need the same indentation");
  return fault(at, "text follows the end of the value above",
               "write the configuration as lines of KEY: VALUE");
}

}  // namespace laneway::config
