#include "handler/content.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/outside_json.h"
#include "delivery/dead_letter/dead_letter.h"
#include "tracing/trace_context.h"

namespace laneway::handler {
namespace {

using nlohmann::json;

/// The value at `pointer`; null if there is none.
json json_at(std::optional<std::string_view> document, const std::string& pointer) {
  auto whole = parse_outside_json(document.value_or(""));
  if (whole.is_discarded()) return nullptr;
  try {
    return std::move(whole.at(json::json_pointer(pointer)));
  } catch (const json::exception&) {
    return nullptr;
  }
}

}  // namespace

std::vector<kafka::Header> Content::headers(const tracing::AttemptTrace* trace) const& {
  auto headers = record_.raw_headers();
  if (trace == nullptr) return headers;
  std::erase_if(headers, [](const auto& header) { return header.name == tracing::traceparent_header; });
  headers.push_back({tracing::traceparent_header, trace->traceparent});
  return headers;
}

std::optional<std::string> Content::text_at(const std::string& pointer) const {
  const auto found = json_at(value(), pointer);
  if (!found.is_string()) return std::nullopt;
  return found.get<std::string>();
}

std::optional<std::string> Content::text_or_number_at(const std::string& pointer) const {
  const auto found = json_at(value(), pointer);
  if (found.is_number_integer()) return found.dump();
  if (!found.is_string()) return std::nullopt;
  return found.get<std::string>();
}

std::optional<std::string> Content::selected(const config::Selector& selector, std::string_view part) const {
  using Kind = config::Selector::Kind;
  switch (selector.kind) {
    case Kind::topic:
      return std::string(topic());
    case Kind::key:
      return kafka::copy_of(key());
    case Kind::header:
      return last_header(selector.name);
    case Kind::value:
      return text_or_number_at(selector.name);
    case Kind::part:
      return part.empty() ? std::nullopt : std::optional(std::string(part));
    case Kind::none:
    case Kind::round_robin:
      break;
  }
  return std::nullopt;
}

std::string Content::wanted_sub_job() const { return last_header(delivery::part_header).value_or(""); }

std::optional<std::string> Content::last_header(std::string_view name) const {
  std::optional<std::string> text;
  for (const auto& header : headers())
    if (header.name == name) text = kafka::copy_of(header.value);
  return text;
}

}  // namespace laneway::handler
