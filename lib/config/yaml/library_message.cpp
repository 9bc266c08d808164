#include "config/yaml/library_message.h"

#include <algorithm>
#include <optional>

#include "config/text.h"

namespace laneway::config {
namespace {

bool has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

constexpr std::string_view ends_of_word = " \t,:[]{}";

/// A line, and the place in the line where the library gave up.
struct Place {
  const Line& line;
  const Line* above;
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

std::optional<Fault> explained(const Place& place, const std::string& message) {
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

Fault explain_message(const Line& line, const Line* above, Position at, const std::string& message) {
  const auto column = static_cast<std::size_t>(std::max(at.column, 1)) - 1;
  const auto offset = std::min(column - std::min(column, line.indentation), line.text.size());
  if (auto found = explained({line, above, at, offset}, message)) return *found;
  return fault(at, "the YAML cannot be read: " + message, "");
}

}  // namespace laneway::config
