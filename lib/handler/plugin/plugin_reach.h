// Checks that a plugin accepts its configuration, for `laneway check --connect`.
//
// Blocks as long as the plugin's init and shutdown do.
#pragma once

#include <string>

#include "base/result.h"
#include "config/config.h"

namespace laneway::handler {

/// Returns "the plugin orders 1.0 accepts its configuration". Error: configuration, for a plugin that cannot
/// be loaded or does not start.
Result<std::string> reach_plugin(const config::PluginSettings& settings);

}  // namespace laneway::handler
