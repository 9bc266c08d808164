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

Position position_at(std::string_view text, std::size_t offset) {
  const auto before = text.substr(0, offset);
  const auto newline = before.rfind('\n');
  const auto start = newline == before.npos ? 0 : newline + 1;
  return {static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1,
          static_cast<int>(offset - start) + 1};
}

std::size_t offset_of(std::string_view text, Position at) {
  std::size_t start = 0;
  for (int line = 1; line < at.line && start != text.npos; ++line) {
    start = text.find('\n', start);
    if (start != text.npos) ++start;
  }
  return std::min(start == text.npos ? start : start + static_cast<std::size_t>(std::max(at.column, 1)) - 1,
                  text.size());
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
