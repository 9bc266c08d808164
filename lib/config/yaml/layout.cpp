#include "config/yaml/layout.h"

#include <algorithm>
#include <vector>

#include "config/text.h"

namespace laneway::config {
namespace {

constexpr std::string_view blanks = " \t\r";

struct Line {
  int number = 0;
  std::size_t indentation = 0;  ///< leading blanks
  std::string_view text;        ///< behind them, without blanks at its end
  std::string_view leading;

  bool empty() const { return text.empty() || text.front() == '#'; }
  bool has_tab() const { return leading.find('\t') != leading.npos; }
  /// "key: value": nothing may be indented below such a line. A quote or bracket may close in a later line.
  bool is_whole_entry() const {
    const auto colon = text.find(": ");
    if (colon == text.npos) return false;
    const auto value = text.substr(text.find_first_not_of(blanks, colon + 1));
    return std::string_view("|>&#").find(value.front()) == std::string_view::npos && !find_not_closed(value);
  }
};

std::vector<Line> lines_of(std::string_view text) {
  std::vector<Line> lines;
  for (int number = 1; !text.empty(); ++number) {
    const auto end = std::min(text.find('\n'), text.size());
    auto line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto first = std::min(line.find_first_not_of(blanks), line.size());
    const auto leading = line.substr(0, first);
    line.remove_prefix(first);
    const auto last = line.find_last_not_of(blanks);
    lines.push_back({number, first, line.substr(0, last == line.npos ? 0 : last + 1), leading});
  }
  return lines;
}

Fault fault(Position at, std::string what, std::string hint) {
  return {at, "", std::move(what), std::move(hint)};
}

std::optional<Fault> tab_in(const Line& line) {
  if (!line.has_tab()) return std::nullopt;
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

std::string spaces(std::size_t count) { return std::to_string(count) + (count == 1 ? " space" : " spaces"); }

/// `before`: the lines above, without empty ones, the nearest first.
std::optional<Fault> indentation_of(const Line& line, const std::vector<Line>& before) {
  if (before.empty()) return std::nullopt;
  const Line& above = before.front();
  const Position at{line.number, static_cast<int>(line.indentation) + 1};
  const auto what = "this line is indented by " + spaces(line.indentation);
  if (line.indentation > above.indentation && above.is_whole_entry())
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
      if (text[i] == '#' && (i == 0 || blanks.find(text[i - 1]) != blanks.npos || text[i - 1] == '\n'))
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

  static std::size_t end_of_quote(std::string_view text, std::size_t begin) {
    for (auto i = begin + 1; i < text.size(); ++i) {
      if (text[begin] == '"' && text[i] == '\\') {
        ++i;
      } else if (text[i] == text[begin]) {
        if (text[begin] != '\'' || i + 1 == text.size() || text[i + 1] != '\'') return i;
        ++i;
      }
    }
    return text.npos;
  }

  std::vector<std::size_t> open_;
};

Position position_in(std::string_view text, std::size_t offset) {
  const auto before = text.substr(0, offset);
  const auto newline = before.rfind('\n');
  const auto start = newline == before.npos ? 0 : newline + 1;
  return {static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1,
          static_cast<int>(offset - start) + 1};
}

/// For messages of the library about a single line.
Fault about_line(const Line& line, Position at, const std::string& message) {
  if (line.text.find("${") != line.text.npos)
    return fault(at, "the YAML cannot be read here",
                 "inside { } and [ ] a variable needs quotes: \"${NAME}\"");
  const auto column =
      static_cast<std::size_t>(at.column) - 1 - std::min<std::size_t>(line.indentation, at.column - 1);
  if (message == "unknown token" && column < line.text.size())
    return fault(at, "a value cannot begin with " + in_quotes(line.text.substr(column, 1)),
                 "put the value in quotes");
  if (message.starts_with("alias not found"))
    return fault(at, "a value cannot begin with \"*\"", "put the value in quotes");
  const auto colon = line.text.find(": ");
  if (message == "illegal map value" && colon != line.text.npos &&
      line.text.find(':', colon + 1) != line.text.npos)
    return fault(at, "a second colon with a space follows in the same line",
                 "put the value in quotes, or begin a new line for each key");
  return fault(at, "the YAML cannot be read: " + message, "");
}

}  // namespace

std::optional<Fault> find_not_closed(std::string_view text) {
  const auto offset = OpenPiece(text).offset();
  if (!offset) return std::nullopt;
  const char c = text[*offset];
  const std::string closing(1, c == '[' ? ']' : c == '{' ? '}' : c);
  return fault(position_in(text, *offset), std::string("this ") + c + " is not closed",
               "add the " + closing + " that is missing");
}

std::optional<std::size_t> key_without_space(std::string_view text) {
  const auto word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '-';
  };
  const auto end = static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), word) - text.begin());
  if (end == 0 || end + 1 >= text.size() || text[end] != ':') return std::nullopt;
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
    if (other.number < line.number && !other.empty()) before.push_back(other);
  std::reverse(before.begin(), before.end());
  const Line& above = before.empty() ? line : before.front();
  for (const Line* near : {&line, &above}) {
    if (auto found = tab_in(*near)) return *found;
    if (auto found = missing_space_in(*near)) return *found;
  }
  if (auto found = find_not_closed(text)) return *found;
  if (auto found = indentation_of(line, before)) return *found;
  return about_line(line, at, message);
}

}  // namespace laneway::config
