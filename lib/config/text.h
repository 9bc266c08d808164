// Small helpers for what messages say. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace laneway::config {

/// The text in double quotes, control characters escaped, cut when long: safe to print.
std::string in_quotes(std::string_view text);

/// A name as it is where it is short and plain, else quoted.
std::string printable(std::string_view name);

/// The candidate nearest to a misspelt dotted name by edit distance (Levenshtein), else one with the same
/// last word, for a key in the wrong section; nothing when none is near.
std::optional<std::string> nearest(std::string_view name, const std::vector<std::string>& candidates);

/// A scalar as a configuration file's YAML that reads back as the same text: plain where that is safe, else
/// in double quotes, with $${ for ${.
std::string yaml_scalar(std::string_view text);

std::string lower(std::string_view text);
bool is_digits(std::string_view text);

/// The parts between the separators; one part when there is none.
std::vector<std::string> split(std::string_view text, std::string_view separator);
std::string join(const std::vector<std::string>& parts, std::string_view separator);

}  // namespace laneway::config
