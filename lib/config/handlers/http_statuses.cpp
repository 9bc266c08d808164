#include "config/handlers/http_statuses.h"

#include <array>
#include <string_view>

#include "config/handlers/handler_schema.h"

namespace laneway::config {
namespace {

constexpr std::uint16_t classes = 5;

constexpr std::array<std::pair<std::string_view, StatusVerdict>, 4> verdict_words = {
    {{"done", StatusVerdict::done},
     {"retry", StatusVerdict::retry},
     {"reject", StatusVerdict::reject},
     {"unavailable", StatusVerdict::unavailable}}};

std::string name_of_status(std::uint16_t status) {
  return std::to_string(status) + (status <= classes ? "xx" : "");
}

/// Nullopt if `text` is not written as it is printed, so that no status can be set twice.
std::optional<std::uint16_t> status_or_class(const std::string& text) {
  const bool is_class = text.size() == 3 && text.ends_with("xx");
  const auto number = is_class ? parse_number<std::uint16_t>(text.substr(0, 1), 1, classes)
                               : parse_number<std::uint16_t>(text, 100, 599);
  if (!number || name_of_status(*number) != text) return std::nullopt;
  return *number;
}

/// The status or class that the user probably means by a wrong key; nullopt if none is near.
std::optional<std::uint16_t> nearest_status(std::string_view text) {
  const auto begin = text.find_first_not_of(" 0");
  if (begin == std::string_view::npos) return std::nullopt;
  const std::string trimmed(text.substr(begin, text.find_last_not_of(' ') + 1 - begin));
  if (auto status = status_or_class(trimmed)) return status;
  if (trimmed.size() > 1 && trimmed.find_first_of("xX*") != std::string::npos)
    return status_or_class(trimmed.substr(0, 1) + "xx");
  return std::nullopt;
}

std::string what_is_wrong_with(const std::string& key) {
  const auto near = nearest_status(key);
  return "a key must be a status from 100 to 599, or a class from 1xx to 5xx" +
         (near ? "; did you mean \"" + name_of_status(*near) + "\"?" : std::string());
}

std::optional<BadValue> set_status(StatusVerdicts& statuses, const Entry& entry) {
  const auto status = status_or_class(entry.key);
  if (!status) return BadValue{key_node(entry), what_is_wrong_with(entry.key)};
  for (const auto& [word, verdict] : verdict_words) {
    if (!entry.value.is_scalar() || entry.value.text != word) continue;
    statuses[*status] = verdict;
    return std::nullopt;
  }
  return BadValue{entry.value, "the verdict on " + name_of_status(*status) +
                                   " must be one of done, retry, reject, unavailable"};
}

std::string print_status(std::uint16_t status, StatusVerdict verdict) {
  for (const auto& [word, value] : verdict_words)
    if (value == verdict) return yaml_scalar(name_of_status(status)) + ": " + std::string(word);
  return {};
}

}  // namespace

Property statuses_property() {
  return map_property(
      "handler.http.statuses", handler_at_start,
      "a map of statuses (100 to 599) or classes of them (1xx to 5xx) to done, retry, reject or unavailable, "
      "such as { \"404\": reject, \"409\": done, \"5xx\": retry }",
      "What statuses mean, instead of the usual verdicts. A status overrides its class. A 2xx status can "
      "also have another verdict than done, such as \"202\": retry for work that is not done yet.",
      in_handler(&HttpSettings::statuses), set_status, print_status);
}

}  // namespace laneway::config
