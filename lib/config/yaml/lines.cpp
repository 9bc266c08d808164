#include "config/yaml/lines.h"

#include <algorithm>

namespace laneway::config {

namespace {

/// A line of a piece but its first begins with "KEY:" or "- ".
bool runs_over_keys(std::string_view piece) {
  for (auto at = piece.find('\n'); at != piece.npos; at = piece.find('\n', at + 1)) {
    const auto line = piece.substr(std::min(piece.find_first_not_of(" \t\n", at), piece.size()));
    const auto colon = line.find_first_of(": \n");
    const bool key = colon != line.npos && colon > 0 && line[colon] == ':' &&
                     (colon + 1 == line.size() || line[colon + 1] == ' ' || line[colon + 1] == '\n');
    if (key || line.starts_with("- ")) return true;
  }
  return false;
}

}  // namespace

std::vector<TextLine> lines_of(std::string_view text) {
  std::vector<TextLine> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find('\n', begin), text.size());
    auto line = text.substr(begin, end - begin);
    const auto first = std::min(line.find_first_not_of(blanks), line.size());
    const auto leading = line.substr(0, first);
    line = line.substr(first, line.find_last_not_of(blanks) + 1 - first);
    lines.push_back({static_cast<int>(lines.size()) + 1, first, line, leading});
    begin = end + 1;
  }
  return lines;
}

Position position_at(std::string_view text, std::size_t offset) {
  const auto before = text.substr(0, offset);
  const auto newline = before.rfind('\n');
  const auto start = newline == before.npos ? 0 : newline + 1;
  return {static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1,
          static_cast<int>(offset - start) + 1};
}

std::size_t end_of_quote(std::string_view text, std::size_t begin) {
  const char quote = text[begin];
  for (auto i = begin + 1; i < text.size(); ++i) {
    if (quote == '"' && text[i] == '\\') {
      ++i;
    } else if (quote == '\'' && text.substr(i).starts_with("''")) {
      ++i;
    } else if (text[i] == quote) {
      return runs_over_keys(text.substr(begin, i - begin)) ? text.npos : i;
    }
  }
  return text.npos;
}

}  // namespace laneway::config
