#include "config/text.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <numeric>
#include <sstream>
#include <utility>

#include "base/utf8.h"

namespace laneway::config {
namespace {

constexpr std::size_t longest_shown = 80;
constexpr std::size_t longest_compared = 64;

/// In double quotes with YAML's escapes, also for what could control a terminal.
std::string escaped(std::string_view text) {
  std::string out = "\"";
  std::array<char, 8> code{};
  for (std::size_t at = 0; at < text.size();) {
    const auto length = utf8_sequence_length(text, at);
    const auto sequence = text.substr(at, std::max<std::size_t>(length, 1));
    if (sequence == "\"" || sequence == "\\") {
      out.append("\\").append(sequence);
    } else if (sequence == "\n") {
      out += "\\n";
    } else if (length == 0 || utf8_control(text, at, length)) {
      const auto point =
          length == 0 ? static_cast<unsigned char>(text[at]) : utf8_code_point(text, at, length);
      std::snprintf(code.data(), code.size(), point < 0x100 ? "\\x%02x" : "\\u%04x", point);
      out += code.data();
    } else {
      out += sequence;
    }
    at += sequence.size();
  }
  return out + "\"";
}

std::string_view last_word(std::string_view name) {
  const auto dot = name.rfind('.');
  return dot == name.npos ? name : name.substr(dot + 1);
}

/// Two neighbours that are swapped are one edit.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  std::vector<std::size_t> above = row;
  std::vector<std::size_t> next = row;
  for (std::size_t i = 0; i < a.size(); ++i) {
    next[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      next[j + 1] = std::min({row[j] + (a[i] == b[j] ? 0 : 1), row[j + 1] + 1, next[j] + 1});
      if (i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j])
        next[j + 1] = std::min(next[j + 1], above[j - 1] + 1);
    }
    std::swap(above, row);
    std::swap(row, next);
  }
  return row.back();
}

/// More edits would suggest an unrelated word: in a short word, two are half of the word.
std::size_t most_edits(std::string_view word, std::string_view candidate) {
  const auto half = std::max<std::size_t>(1, std::min<std::size_t>(word.size() / 2, 3));
  return word.size() <= 4 && !last_word(candidate).starts_with(word.substr(0, 1)) ? 1 : half;
}

}  // namespace

std::string in_quotes(std::string_view text) {
  if (text.size() <= longest_shown) return escaped(text);
  std::size_t cut = longest_shown;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xc0) == 0x80) --cut;
  return escaped(text.substr(0, cut)) + "…";
}

std::string printable(std::string_view name) {
  const bool plain = is_ascii(name) && name.find(' ') == name.npos;
  return plain && !name.empty() && name.size() <= longest_shown ? std::string(name) : in_quotes(name);
}

std::optional<std::string> nearest(std::string_view name, const std::vector<std::string>& candidates) {
  if (name.empty() || name.size() > longest_compared) return std::nullopt;
  std::size_t best = std::numeric_limits<std::size_t>::max();
  const std::string* found = nullptr;
  for (const std::string& candidate : candidates) {
    const auto distance = edit_distance(name, candidate);
    if (distance < best) {
      best = distance;
      found = &candidate;
    }
  }
  const auto below_section = name.substr(name.find('.') + 1);
  if (found != nullptr && best <= most_edits(below_section, *found)) return *found;
  if (below_section != last_word(name)) return std::nullopt;
  const auto same_word = std::find_if(candidates.begin(), candidates.end(),
                                      [&](const auto& c) { return last_word(c) == below_section; });
  return same_word == candidates.end() ? std::nullopt : std::optional(*same_word);
}

std::string yaml_scalar(std::string_view text) {
  const bool safe = !text.empty() && text.front() != '-' && text.front() != '.' && is_word(text, "_.-/") &&
                    lower(text) != "null";
  if (safe) return std::string(text);
  auto out = escaped(text);
  for (auto at = out.find("${"); at != out.npos; at = out.find("${", at + 3)) out.insert(at, 1, '$');
  return out;
}

std::string counted(std::uint64_t number, std::string_view noun) {
  return std::to_string(number) + ' ' + std::string(noun) + (number == 1 ? "" : "s");
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

bool is_handler(std::string_view name) { return name == "handler" || name.starts_with("handler."); }

bool is_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool is_word(std::string_view text, std::string_view others) {
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           others.find(c) != others.npos;
  });
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  return first == text.npos ? "" : text.substr(first, text.find_last_not_of(" \t") + 1 - first);
}

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::vector<std::string> words_in_lines(const std::string& text, std::size_t width, std::size_t indent,
                                        std::size_t used, std::size_t most) {
  std::istringstream words(text);
  std::vector<std::string> lines(1);
  for (std::string word; words >> word;) {
    const auto length = characters(word);
    if (!lines.back().empty() && used + 1 + length > width && lines.size() < most) {
      lines.emplace_back();
      used = indent;
    }
    used += length + (lines.back().empty() ? 0 : 1);
    lines.back() += (lines.back().empty() ? "" : " ") + word;
  }
  return lines;
}

std::vector<std::string> split(std::string_view text, std::string_view separator) {
  std::vector<std::string> parts;
  for (std::size_t at = text.find(separator); at != text.npos; at = text.find(separator)) {
    parts.emplace_back(text.substr(0, at));
    text.remove_prefix(at + separator.size());
  }
  parts.emplace_back(text);
  return parts;
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : std::string(separator)) + part;
  return out;
}

std::string listed(std::vector<std::string> parts, std::size_t most) {
  const auto all = parts.size();
  parts.resize(std::min(all, most));
  return join(parts, ", ") + (all > most ? " and " + std::to_string(all - most) + " more" : "");
}

}  // namespace laneway::config
