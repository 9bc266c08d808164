// Variables that Kubernetes puts into each container of a namespace for a Service named laneway, or
// laneway-*: LANEWAY_SERVICE_HOST, LANEWAY_SERVICE_PORT, LANEWAY_SERVICE_PORT_<NAME>, LANEWAY_PORT and
// LANEWAY_PORT_9644_TCP with _PROTO, _PORT and _ADDR. They begin like laneway's own variables and are none.
// Pure.
#pragma once

#include <optional>
#include <string>

#include "config/load/settings.h"

namespace laneway::config {

/// By the name and the form of the value. No key of laneway has a variable of these forms, and no such
/// variable is a misspelt key.
bool is_service_link(const std::string& variable, const std::string& value);

/// One warning that names the ignored variables, the reason, and how to end it; nullopt if there are none.
std::optional<std::string> warning_about_service_links(const EnvironmentVariables& environment);

}  // namespace laneway::config
