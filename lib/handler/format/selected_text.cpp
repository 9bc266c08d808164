#include "handler/format/selected_text.h"

#include "delivery/dead_letter/dead_letter.h"
#include "handler/format/json_field.h"

namespace laneway::handler {
namespace {

std::optional<std::string> text_of(std::optional<std::string_view> text) {
  if (!text) return std::nullopt;
  return std::string(*text);
}

std::optional<std::string> last_header(const kafka::Record& record, std::string_view name) {
  std::optional<std::string> text;
  for (const auto& header : record.headers())
    if (header.name == name) text = text_of(header.value);
  return text;
}

}  // namespace

std::optional<std::string> selected_text(const config::Selector& selector, const kafka::Record& record,
                                         std::string_view part) {
  using Kind = config::Selector::Kind;
  switch (selector.kind) {
    case Kind::topic:
      return std::string(record.topic());
    case Kind::key:
      return text_of(record.key());
    case Kind::header:
      return last_header(record, selector.name);
    case Kind::value:
      return record.value() ? text_or_number_at(*record.value(), selector.name) : std::nullopt;
    case Kind::part:
      return part.empty() ? std::nullopt : std::optional(std::string(part));
    case Kind::none:
    case Kind::round_robin:
      break;
  }
  return std::nullopt;
}

std::string wanted_sub_job(const kafka::Record& record) {
  return last_header(record, delivery::part_header).value_or("");
}

}  // namespace laneway::handler
