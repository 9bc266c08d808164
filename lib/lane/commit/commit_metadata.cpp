#include "lane/commit/commit_metadata.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace laneway::lane {
namespace {

struct Field {
  std::string_view name;
  std::string_view value;
};

/// Takes a field off the front; nullopt if the text does not begin with a field.
std::optional<Field> take_field(std::string_view& text) {
  const auto space = text.find(' ');
  const auto equals = text.find('=');
  if (space == text.npos || equals == 0 || equals > space) return std::nullopt;
  const Field field{text.substr(0, equals), text.substr(equals + 1, space - equals - 1)};
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
  if (!std::all_of(field.name.begin(), field.name.end(), is_letter)) return std::nullopt;
  text.remove_prefix(space + 1);
  return field;
}

std::optional<std::int64_t> time_of(std::string_view text) {
  std::int64_t ms = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, ms);
  if (error != std::errc() || rest != end || ms < 0) return std::nullopt;
  return ms;
}

std::optional<std::string> differs(const char* what, const std::string& written, const std::string& own) {
  if (written == own) return std::nullopt;
  const auto begin = std::string("written for another ") + what + ", with the id " + written;
  if (own.empty())
    return std::string("written for the ") + what + " with the id " + written + ", and the id of this " +
           what + " could not be read";
  return begin + "; this " + what + " has the id " + own;
}

}  // namespace

std::string fields_of(const CommitMetadata& metadata) {
  auto text = encode(metadata.lives);
  if (!metadata.log.topic.empty())
    text += "topic=" + metadata.log.topic + ' ';
  else if (!metadata.log.cluster.empty())
    text += "cluster=" + metadata.log.cluster + ' ';
  if (metadata.suspension)
    text += (metadata.suspension->suspended ? "suspended=" : "resumed=") +
            std::to_string(metadata.suspension->at_ms) + ' ';
  return text + metadata.suspects;
}

CommitMetadata read_metadata(std::string_view text) {
  CommitMetadata metadata;
  metadata.lives = take_marker(text);
  while (const auto field = take_field(text)) {
    if (field->name == "topic") metadata.log.topic = field->value;
    if (field->name == "cluster") metadata.log.cluster = field->value;
    if (field->name == "failed") metadata.suspects = "failed=" + std::string(field->value) + ' ';
    if (field->name == "suspended" || field->name == "resumed") {
      if (const auto at = time_of(field->value)) metadata.suspension = {field->name == "suspended", *at};
    }
  }
  metadata.map = text;
  return metadata;
}

std::optional<std::string> foreign(const LogName& written, const LogName& own) {
  if (!written.topic.empty()) return differs("topic", written.topic, own.topic);
  if (!written.cluster.empty()) return differs("cluster", written.cluster, own.cluster);
  return std::nullopt;
}

}  // namespace laneway::lane
