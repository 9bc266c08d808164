#include "config/pools/selector.h"

#include <string_view>
#include <utility>

#include "config/checks/checks.h"
#include "config/text.h"

namespace laneway::config {
namespace {

using Kind = Selector::Kind;
constexpr std::pair<std::string_view, Kind> words[] = {
    {"topic", Kind::topic}, {"key", Kind::key}, {"part", Kind::part}, {"round_robin", Kind::round_robin}};
constexpr std::string_view header = "header:";
constexpr std::string_view value = "value:";

}  // namespace

Result<Selector> parse_selector(const std::string& text, bool with_part) {
  if (text.empty()) return Selector{};
  for (const auto& [word, kind] : words)
    if (text == word && kind != Kind::round_robin && (with_part || kind != Kind::part))
      return Selector{kind, ""};
  if (text.starts_with(header)) {
    auto name = text.substr(header.size());
    if (name.empty()) return wrong_value("the name of the header is missing");
    return Selector{Kind::header, std::move(name)};
  }
  if (text.starts_with(value)) {
    auto pointer = text.substr(value.size());
    if (pointer.empty()) return wrong_value("the JSON pointer is missing");
    if (auto what = check_json_pointer(pointer); !what.empty())
      return wrong_value("the JSON pointer: " + what);
    return Selector{Kind::value, std::move(pointer)};
  }
  return wrong_value("");
}

std::string print_selector(const Selector& selector) {
  for (const auto& [word, kind] : words)
    if (kind == selector.kind) return std::string(word);
  if (!selector.enabled()) return "";
  return std::string(selector.kind == Kind::header ? header : value) + selector.name;
}

}  // namespace laneway::config
