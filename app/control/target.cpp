#include <algorithm>
#include <charconv>
#include <vector>

#include "app/control/options.h"

namespace laneway::control {
namespace {

template <class Number>
bool read(const std::string& text, std::optional<Number>& into) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || rest != end || value < 0) return false;
  into = value;
  return true;
}

/// As Kafka allows them.
bool is_topic(const std::string& name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  });
}

}  // namespace

Result<Target> parse_target(const std::string& text) {
  std::vector<std::string> parts{""};
  for (const char c : text) {
    if (c == ':')
      parts.emplace_back();
    else
      parts.back() += c;
  }
  Target target{parts[0], {}, {}};
  const bool right = is_topic(target.topic) && parts.size() <= 3 &&
                     (parts.size() < 2 || read(parts[1], target.partition)) &&
                     (parts.size() < 3 || read(parts[2], target.offset));
  if (right) return target;
  return Error{ErrorKind::usage, "'" + text + "' is no TOPIC, TOPIC:PARTITION or TOPIC:PARTITION:OFFSET",
               "such as orders, orders:3 or orders:3:1234"};
}

std::string control_path(const Target& target, const std::string& verb) {
  std::string path = "/lanes/" + target.topic + '/';
  if (target.partition) path += std::to_string(*target.partition) + '/';
  return path + verb;
}

}  // namespace laneway::control
