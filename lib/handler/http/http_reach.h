// Checks that the web service of `handler.http` accepts connections, for `laneway check --connect`.
//
// Blocks up to `timeout`, and as long as a name server takes. Sends nothing beyond what a connection needs.
#pragma once

#include <string>

#include "base/result.h"
#include "base/time.h"
#include "config/config.h"

namespace laneway::handler {

/// Returns "host:port accepts connections"; with TLS if the URL is https. With subscribers, only their file
/// is read. Errors: unavailable; configuration
/// for an invalid URL.
Result<std::string> reach_server(const config::HttpSettings& settings, Duration timeout);

}  // namespace laneway::handler
