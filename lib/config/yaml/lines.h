// The lines of a YAML text, for explanations of what the YAML library cannot read. Pure.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/yaml/document.h"

namespace laneway::config {

inline constexpr std::string_view blanks = " \t\r";

struct TextLine {
  int number = 0;
  std::size_t indentation = 0;  ///< leading blanks
  std::string_view text;        ///< behind them, without blanks at its end
  std::string_view leading;
};

/// Views into `text`.
std::vector<TextLine> lines_of(std::string_view text);

inline bool is_empty(const TextLine& line) { return line.text.empty() || line.text.front() == '#'; }

/// The place of the byte at `offset`; columns count bytes, as the parser's do.
Position position_at(std::string_view text, std::size_t offset);

/// The offset of the quote that closes the quote at `begin`; npos if there is none. A quote around lines that
/// look like keys was not meant to be closed there, and counts as not closed.
std::size_t end_of_quote(std::string_view text, std::size_t begin);

inline Fault fault(Position at, std::string what, std::string hint) {
  return {at, "", std::move(what), std::move(hint)};
}

/// "-orders", where YAML needs a space after the hyphen of an item.
inline bool hyphen_without_space(std::string_view text) {
  return text.size() > 1 && text[0] == '-' && text[1] != ' ' && text[1] != '-';
}

inline Fault hyphen_fault(Position at) {
  return fault(at, "the space after the hyphen is missing", "write each item of a list as - ITEM");
}

}  // namespace laneway::config
