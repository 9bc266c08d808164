#include "handler/json_field.h"

#include <nlohmann/json.hpp>

namespace laneway::handler {

std::optional<std::string> text_at(std::string_view document, const std::string& pointer) {
  const auto json = nlohmann::json::parse(document, nullptr, false);
  if (json.is_discarded()) return std::nullopt;
  try {
    const auto& found = json.at(nlohmann::json::json_pointer(pointer));
    if (found.is_string()) return found.get<std::string>();
  } catch (const nlohmann::json::exception&) {
    // Nothing is there.
  }
  return std::nullopt;
}

}  // namespace laneway::handler
