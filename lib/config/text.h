// Small helpers for texts, names and what messages say. Pure.
#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace laneway::config {

/// A mistake in what a user has written.
inline Error wrong_value(std::string what, std::string hint = "") {
  return {ErrorKind::configuration, std::move(what), std::move(hint)};
}

/// The text in double quotes, safe to print: control characters are escaped, and a long text is cut.
std::string in_quotes(std::string_view text);

/// A short and plain name as it is, any other name in quotes.
std::string printable(std::string_view name);

/// The candidate nearest to a misspelt dotted name by edit distance, in which two swapped neighbours are one
/// edit, else a candidate with the same last word, for a key in the wrong section; nullopt if none is near.
std::optional<std::string> nearest(std::string_view name, const std::vector<std::string>& candidates);

/// A scalar as a configuration file's YAML that reads back as the same text: plain where that is safe, else
/// in double quotes, with $${ for ${.
std::string yaml_scalar(std::string_view text);

/// "1 record", "3 records".
std::string counted(std::uint64_t number, std::string_view noun);

std::string lower(std::string_view text);
/// Whether the setting is the handler of a service, or a key of it.
bool is_handler(std::string_view name);
bool is_digits(std::string_view text);
/// Whether all characters are letters and digits of ASCII, or among `others`.
bool is_word(std::string_view text, std::string_view others);
/// Whether all characters are printable ASCII. Blanks are.
bool is_ascii(std::string_view text);
/// Without blanks and tabs at both ends.
std::string_view trimmed(std::string_view text);

/// The first row of a table whose `name` is this one; nullptr if there is none.
template <class Rows>
auto find_named(const Rows& rows, std::string_view name) -> decltype(&*std::begin(rows)) {
  for (const auto& row : rows)
    if (row.name == name) return &row;
  return nullptr;
}

/// The number of characters of UTF-8.
std::size_t characters(std::string_view text);
/// The words of the text in lines that leave room for `indent` columns, the first for `used`; the last of
/// `most` lines has all that is left.
std::vector<std::string> words_in_lines(const std::string& text, std::size_t width, std::size_t indent,
                                        std::size_t used = 0, std::size_t most = std::string::npos);
/// The parts between the separators; one part if `text` has no separator.
std::vector<std::string> split(std::string_view text, std::string_view separator);
std::string join(const std::vector<std::string>& parts, std::string_view separator);
/// "a, b and 3 more": the first `most` of the parts.
std::string listed(std::vector<std::string> parts, std::size_t most);

}  // namespace laneway::config
