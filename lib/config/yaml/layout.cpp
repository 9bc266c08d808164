#include "config/yaml/layout.h"

#include <algorithm>
#include <vector>

#include "config/text.h"
#include "config/yaml/lines.h"

namespace laneway::config {
namespace {

bool has_tab(const TextLine& line) { return line.leading.find('\t') != line.leading.npos; }

/// "key: value": nothing may be indented below such a line. A quote or bracket may close in a later line.
bool is_whole_entry(const TextLine& line) {
  const auto colon = line.text.find(": ");
  if (colon == line.text.npos) return false;
  const auto value = line.text.substr(line.text.find_first_not_of(blanks, colon + 1));
  return std::string_view("|>&#").find(value.front()) == std::string_view::npos && !find_not_closed(value);
}

std::optional<Fault> tab_in(const TextLine& line) {
  if (!has_tab(line)) return std::nullopt;
  const auto column = static_cast<int>(line.leading.find('\t')) + 1;
  return fault({line.number, column}, "this line is indented with a tab",
               "indent with spaces: YAML allows no tabs");
}

std::optional<Fault> missing_space_in(const TextLine& line) {
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
std::optional<Fault> missing_space_before_bracket(const std::vector<TextLine>& before) {
  for (const TextLine& line : before)
    if (line.text.ends_with(":[") || line.text.ends_with(":{"))
      if (auto found = missing_space_in(line)) return found;
  return std::nullopt;
}

/// `before`: the lines above, without empty ones, the nearest first.
std::optional<Fault> indentation_of(const TextLine& line, const std::vector<TextLine>& before) {
  if (before.empty()) return std::nullopt;
  const TextLine& above = before.front();
  const Position at{line.number, static_cast<int>(line.indentation) + 1};
  const auto what = "this line is indented by " + counted(line.indentation, "space");
  if (line.indentation > above.indentation && is_whole_entry(above))
    return fault(
        at,
        what + ", line " + std::to_string(above.number) + " above by " + counted(above.indentation, "space"),
        "keys of one group need the same indentation");
  if (line.indentation >= above.indentation) return std::nullopt;
  std::vector<std::string> possible;
  auto least = above.indentation + 1;
  for (const TextLine& other : before) {
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

bool has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

constexpr std::string_view ends_of_word = " \t,:[]{}";

/// A line, and the place in the line where the library gave up.
struct Place {
  const TextLine& line;
  const TextLine* above;
  Position at;
  std::size_t offset;  ///< in line.text, at most its size

  std::string_view rest() const { return line.text.substr(offset); }
};

/// The word at the place, or before the place if that is a colon: "timeout" of "timeout: 3s".
std::string word_at(const Place& place) {
  const auto text = place.line.text;
  auto begin = place.offset;
  if (begin < text.size() && text[begin] == ':') begin = text.substr(0, begin).find_last_of(ends_of_word) + 1;
  const auto end = std::min(text.find_first_of(ends_of_word, begin + 1), text.size());
  return std::string(text.substr(begin, end - begin));
}

std::optional<Fault> value_without_quotes(const Place& place, const std::string& message) {
  if (message == "unknown token" && !place.rest().empty())
    return fault(place.at, "a value cannot begin with " + in_quotes(place.rest().substr(0, 1)),
                 "put the value in quotes");
  if (message.starts_with("alias not found") || message.starts_with("the referenced anchor"))
    return fault(place.at, "a value cannot begin with \"*\"", "put the value in quotes");
  if (message.starts_with("unknown escape character"))
    return fault(place.at, "in double quotes, a backslash begins an escape, and this escape is not known",
                 "put the value in single quotes, in which a backslash is a backslash");
  if (message == "unexpected character in block scalar")
    return fault(place.at, "a value that begins with | or > is a block of lines", "put the value in quotes");
  return std::nullopt;
}

/// "topics [orders]", "topics = [orders]" and "-orders" are the begin of a text that the next line ends.
std::optional<Fault> above_has_no_colon(const Place& place) {
  if (place.above == nullptr) return std::nullopt;
  const auto text = place.above->text;
  const Position at{place.above->number, static_cast<int>(place.above->indentation) + 1};
  if (hyphen_without_space(text)) return hyphen_fault(at);
  if (text.find(": ") != text.npos || text.ends_with(':') || text.starts_with("- ")) return std::nullopt;
  const auto key = std::string(text.substr(0, text.find_first_of(" \t=")));
  return fault(at, "the colon after the key is missing", "write " + printable(key) + ": and the value");
}

std::optional<Fault> wrong_map_value(const Place& place) {
  const auto text = place.line.text;
  const auto colon = text.find(": ");
  if (colon != text.npos && (text.find(": ", colon + 1) != text.npos || text.ends_with(':')))
    return fault(place.at, "a second colon with a space follows in the same line",
                 "put the value in quotes, or begin a new line for each key");
  return above_has_no_colon(place);
}

std::optional<Fault> text_behind_value(const Place& place) {
  if (place.rest().empty()) return std::nullopt;
  if (place.offset == 0 && hyphen_without_space(place.rest())) return hyphen_fault(place.at);
  if (place.offset > 0 && place.line.text[place.offset - 1] == '\'')
    return fault(place.at, "text follows the end of the value",
                 "inside single quotes, write \'\' for an apostrophe");
  if (place.rest().starts_with(':') && place.offset > 0 &&
      place.line.text[place.offset - 1] == place.line.text[0])
    return fault(place.at, "the space after the colon is missing", "write a space after the colon");
  if (place.offset == 0)
    return fault(place.at, "this line has no key and no hyphen",
                 "write KEY: before a value, and - before an item");
  if (place.rest() == ",")
    return fault(place.at, "a comma follows the value",
                 "remove the comma: here, each key has a line of its own");
  return fault(place.at, "text follows the end of the value",
               "put the whole value in quotes, or remove the text");
}

std::optional<Fault> wrong_brackets(const Place& place, const std::string& message) {
  if (place.rest().empty()) return std::nullopt;
  const std::string first(place.rest().substr(0, 1));
  if (message == "illegal flow end")
    return fault(place.at, "this " + first + " closes no " + (first == "]" ? "[" : "{"),
                 "remove the " + first + ", or write the bracket that closes the one that is open");
  return fault(place.at, "a comma is missing before " + printable(word_at(place)),
               "separate the items between [ ] and { } by commas");
}

/// The messages are those of yaml-cpp 0.7 (yaml-cpp/exceptions.h).
std::optional<Fault> explain_message(const Place& place, const std::string& message) {
  if (has(message, "flow") && has(place.line.text, "${"))
    return fault(place.at, "the YAML cannot be read here",
                 "inside { } and [ ] a variable needs quotes: \"${NAME}\"");
  if (auto found = value_without_quotes(place, message)) return found;
  if (message == "illegal map value") return wrong_map_value(place);
  if (message == "illegal map key")
    return fault(place.at, "a key cannot begin here", "put the value in quotes");
  if (message == "illegal block entry" || place.rest().starts_with("- "))
    return fault(place.at, "an item of a list cannot begin here",
                 "begin a line of its own for each item, or write [a, b]");
  if (message == "end of map not found" || message == "end of sequence not found")
    return text_behind_value(place);
  if (message == "illegal flow end" || message == "end of map flow not found" ||
      message == "end of sequence flow not found")
    return wrong_brackets(place, message);
  return std::nullopt;
}

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
  std::size_t end = 0;
  while (end < text.size() && is_word(text.substr(end, 1), "_.-")) ++end;
  if (end == 0 || text[0] == '-' || end + 1 >= text.size() || text[end] != ':') return std::nullopt;
  const char next = text[end + 1];
  if (next == ' ' || next == '\t' || next == ':' || text.substr(end).starts_with("://")) return std::nullopt;
  return end;
}

Fault explain_syntax(std::string_view text, Position at, const std::string& message) {
  const auto lines = lines_of(text);
  if (at.line < 1 || lines.empty()) return fault(at, "the YAML cannot be read: " + message, "");
  const TextLine& line = lines[std::min(static_cast<std::size_t>(at.line), lines.size()) - 1];
  std::vector<TextLine> before;
  for (const TextLine& other : lines)
    if (other.number < line.number && !is_empty(other)) before.push_back(other);
  std::reverse(before.begin(), before.end());
  const TextLine& above = before.empty() ? line : before.front();
  for (const TextLine* near : {&line, &above}) {
    if (auto found = tab_in(*near)) return *found;
    const bool item_above = near != &line && near->text.starts_with("- ");
    if (auto found = item_above ? std::nullopt : missing_space_in(*near)) return *found;
  }
  if (message == "illegal flow end")
    if (auto found = missing_space_before_bracket(before)) return *found;
  if (auto found = find_not_closed(text)) return *found;
  if (auto found = indentation_of(line, before)) return *found;
  const auto column = static_cast<std::size_t>(std::max(at.column, 1)) - 1;
  const auto offset = std::min(column - std::min(column, line.indentation), line.text.size());
  const Place place{line, before.empty() ? nullptr : &before.front(), at, offset};
  return explain_message(place, message).value_or(fault(at, "the YAML cannot be read: " + message, ""));
}

}  // namespace laneway::config
