// The table of the handlers as the configuration sees them. The handlers themselves are in lib/handler. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/handlers/handler_schema.h"

namespace laneway::config {

/// In the order of HandlerSettings.
const std::vector<HandlerSchema>& handlers();
/// In the order of the reference.
std::vector<const HandlerSchema*> handlers_of_reference();

/// Nullptr if no handler has this name.
const HandlerSchema* find_handler(std::string_view name);
const HandlerSchema& handler_of(const HandlerSettings& handler);
/// Nullopt if the handler writes nothing to Kafka.
std::optional<HandlerOutput> output_of(const HandlerSettings& handler);
std::vector<std::string> handler_names();
/// For hints: "http or produce", the handlers that do work and have the traits.
std::string handlers_with(bool (*wanted)(const HandlerTraits& traits));

}  // namespace laneway::config
