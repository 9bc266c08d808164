#include "config/yaml/layout.h"

#include <algorithm>
#include <vector>

#include "config/text.h"
#include "config/yaml/library_message.h"
#include "config/yaml/lines.h"

namespace laneway::config {
namespace {

bool has_tab(const Line& line) { return line.leading.find('\t') != line.leading.npos; }

/// "key: value": nothing may be indented below such a line. A quote or bracket may close in a later line.
bool is_whole_entry(const Line& line) {
  const auto colon = line.text.find(": ");
  if (colon == line.text.npos) return false;
  const auto value = line.text.substr(line.text.find_first_not_of(blanks, colon + 1));
  return std::string_view("|>&#").find(value.front()) == std::string_view::npos && !find_not_closed(value);
}

std::optional<Fault> tab_in(const Line& line) {
  if (!has_tab(line)) return std::nullopt;
  const auto column = static_cast<int>(line.leading.find('\t')) + 1;
  return fault({line.number, column}, "this line is indented with a tab",
               "indent with spaces: YAML allows no tabs");
}

std::optional<Fault> missing_space_in(const Line& line) {
  auto text = line.text;
  std::size_t skipped = 0;
  while (text.starts_with("- ")) {
    text.remove_prefix(2);
    skipped += 2;
  }
  const auto key = key_without_space(text);
  if (!key) return std::nullopt;
  const auto column = static_cast<int>(line.indentation + skipped + *key) + 2;
  return fault({line.number, column}, "the space after the colon is missing",
               "write a space after " + std::string(text.substr(0, *key)) + ":");
}

/// "topics:[" in a line further above: to YAML, the bracket is a part of the word.
std::optional<Fault> missing_space_before_bracket(const std::vector<Line>& before) {
  for (const Line& line : before)
    if (line.text.ends_with(":[") || line.text.ends_with(":{"))
      if (auto found = missing_space_in(line)) return found;
  return std::nullopt;
}

/// `before`: the lines above, without empty ones, the nearest first.
std::optional<Fault> indentation_of(const Line& line, const std::vector<Line>& before) {
  if (before.empty()) return std::nullopt;
  const Line& above = before.front();
  const Position at{line.number, static_cast<int>(line.indentation) + 1};
  const auto what = "this line is indented by " + spaces(line.indentation);
  if (line.indentation > above.indentation && is_whole_entry(above))
    return fault(at,
                 what + ", line " + std::to_string(above.number) + " above by " + spaces(above.indentation),
                 "keys of one group need the same indentation");
  if (line.indentation >= above.indentation) return std::nullopt;
  std::vector<std::string> possible;
  auto least = above.indentation + 1;
  for (const Line& other : before) {
    if (other.indentation >= least) continue;
    least = other.indentation;
    if (least == line.indentation) return std::nullopt;
    possible.push_back(std::to_string(least));
  }
  std::reverse(possible.begin(), possible.end());
  return fault(at, what + ", which fits no group above",
               "the lines above are indented by " + join(possible, " or ") + " spaces");
}

/// The first quote or bracket that nothing closes.
class OpenPiece {
 public:
  explicit OpenPiece(std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '#' && (i == 0 || std::string_view(" \t\r\n[{,").find(text[i - 1]) != text.npos))
        i = std::min(text.find('\n', i), text.size() - 1);
      const char c = text[i];
      if ((c == '"' || c == '\'') && begins_value(text, i)) {
        const auto end = end_of_quote(text, i);
        if (end == text.npos) {
          open_.push_back(i);
          return;
        }
        i = end;
      } else if ((c == '[' || c == '{') && (!open_.empty() || begins_value(text, i))) {
        open_.push_back(i);
      } else if ((c == ']' || c == '}') && !open_.empty()) {
        open_.pop_back();
      }
    }
  }

  /// In the text; nullopt if all are closed.
  std::optional<std::size_t> offset() const {
    return open_.empty() ? std::nullopt : std::optional(open_.back());
  }

 private:
  static bool begins_value(std::string_view text, std::size_t at) {
    const auto before = at == 0 ? text.npos : text.find_last_not_of(blanks, at - 1);
    return before == text.npos || std::string_view("\n:,[{-").find(text[before]) != std::string_view::npos;
  }

  std::vector<std::size_t> open_;
};

}  // namespace

std::optional<Fault> find_not_closed(std::string_view text) {
  const auto offset = OpenPiece(text).offset();
  return offset ? std::optional(not_closed(text, *offset)) : std::nullopt;
}

Fault not_closed(std::string_view text, std::size_t offset) {
  const char c = text[offset];
  const std::string closing(1, c == '[' ? ']' : c == '{' ? '}' : c);
  return fault(position_at(text, offset), std::string("this ") + c + " is not closed",
               "add the " + closing + " that is missing");
}

std::optional<std::size_t> key_without_space(std::string_view text) {
  const auto word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '-';
  };
  const auto end = static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), word) - text.begin());
  if (end == 0 || text[0] == '-' || end + 1 >= text.size() || text[end] != ':') return std::nullopt;
  const char next = text[end + 1];
  if (next == ' ' || next == '\t' || next == ':' || text.substr(end).starts_with("://")) return std::nullopt;
  return end;
}

Fault explain_syntax(std::string_view text, Position at, const std::string& message) {
  const auto lines = lines_of(text);
  if (at.line < 1 || lines.empty()) return fault(at, "the YAML cannot be read: " + message, "");
  const Line& line = lines[std::min(static_cast<std::size_t>(at.line), lines.size()) - 1];
  std::vector<Line> before;
  for (const Line& other : lines)
    if (other.number < line.number && !is_empty(other)) before.push_back(other);
  std::reverse(before.begin(), before.end());
  const Line& above = before.empty() ? line : before.front();
  for (const Line* near : {&line, &above}) {
    if (auto found = tab_in(*near)) return *found;
    const bool item_above = near != &line && near->text.starts_with("- ");
    if (auto found = item_above ? std::nullopt : missing_space_in(*near)) return *found;
  }
  if (message == "illegal flow end")
    if (auto found = missing_space_before_bracket(before)) return *found;
  if (auto found = find_not_closed(text)) return *found;
  if (auto found = indentation_of(line, before)) return *found;
  return explain_message(line, before.empty() ? nullptr : &before.front(), at, message);
}

}  // namespace laneway::config
