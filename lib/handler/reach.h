// Whether what a handler needs is there, for `laneway check --connect`: the server that it talks to, or the
// plugin.
//
// Blocks up to `timeout` and as long as a name server takes, or as a plugin's init and shutdown. Nothing is
// sent beyond what a connection needs.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "config/config.h"

namespace laneway::handler {

/// A sentence for people: "host:port accepts connections", with TLS where the URL is https; "/usr/bin/python3
/// starts"; "the plugin orders 1.0 takes its configuration"; nothing for a handler that needs nothing.
/// Errors: unavailable; configuration for an address that is none, and a plugin that cannot be loaded or does
/// not start.
Result<std::optional<std::string>> reach(const config::HandlerSettings& settings, Duration timeout);

}  // namespace laneway::handler
