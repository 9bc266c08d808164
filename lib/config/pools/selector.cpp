#include "config/pools/selector.h"

#include "config/checks/checks.h"
#include "config/text.h"

namespace laneway::config {
namespace {

using Kind = Selector::Kind;
constexpr std::string_view header = "header:";
constexpr std::string_view value = "value:";

}  // namespace

Result<Selector> parse_selector(const std::string& text, bool with_part) {
  if (text.empty()) return Selector{};
  if (text == "topic") return Selector{Kind::topic, ""};
  if (text == "key") return Selector{Kind::key, ""};
  if (text == "part" && with_part) return Selector{Kind::part, ""};
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
  switch (selector.kind) {
    case Kind::none:
      return "";
    case Kind::topic:
      return "topic";
    case Kind::key:
      return "key";
    case Kind::part:
      return "part";
    case Kind::round_robin:
      return "round_robin";
    case Kind::header:
      return std::string(header) + selector.name;
    case Kind::value:
      return std::string(value) + selector.name;
  }
  return "";
}

}  // namespace laneway::config
