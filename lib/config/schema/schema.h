// All of laneway's own settings in one list, those of the handlers (config/handlers) among them: the loader,
// the suggestions for misspelt keys, the dump of the effective configuration and config/full.yaml come from
// it. The client library's keys are in config/client/client_keys.h. Pure.
#pragma once

#include <string_view>
#include <vector>

#include "config/schema/property.h"

namespace laneway::config {

/// In the order in which people read them. A handler's settings may only be used on a Config with that
/// handler.
const std::vector<Property>& properties();
const Property* find_property(std::string_view path);

}  // namespace laneway::config
