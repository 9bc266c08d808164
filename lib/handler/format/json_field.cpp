#include "handler/format/json_field.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/outside_json.h"

namespace laneway::handler {

namespace {

using nlohmann::json;

/// The value at `pointer`; null if there is none.
json value_at(std::string_view document, const std::string& pointer) {
  auto whole = parse_outside_json(document);
  if (whole.is_discarded()) return nullptr;
  try {
    return std::move(whole.at(json::json_pointer(pointer)));
  } catch (const json::exception&) {
    return nullptr;
  }
}

}  // namespace

std::optional<std::string> text_at(std::string_view document, const std::string& pointer) {
  const auto found = value_at(document, pointer);
  if (!found.is_string()) return std::nullopt;
  return found.get<std::string>();
}

std::optional<std::string> text_or_number_at(std::string_view document, const std::string& pointer) {
  const auto found = value_at(document, pointer);
  if (found.is_number_integer()) return found.dump();
  if (!found.is_string()) return std::nullopt;
  return found.get<std::string>();
}

}  // namespace laneway::handler
