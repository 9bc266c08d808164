// All of laneway's own settings in one list, including those of the handlers (config/handlers). The loader,
// the suggestions for misspelt keys, the printed configuration and config/full.yaml use the list. The client
// library's keys are in config/client/client_keys.h. Pure.
#pragma once

#include <string_view>
#include <vector>

#include "config/property.h"

namespace laneway::config {

/// In the order of the reference. The settings of a handler may only be used on a Scope with that handler.
const Rows& properties();
/// Nullptr if there is no property of that name. `path` may name a setting of any pool (pools/pool_path.h).
const Property* find_property(std::string_view path);

}  // namespace laneway::config
