// Whether the web service of `handler.http` takes connections, for `laneway check --connect`.
//
// Blocks up to `timeout` and as long as a name server takes. Nothing is sent beyond what a connection needs.
#pragma once

#include <string>

#include "base/result.h"
#include "base/time.h"
#include "config/config.h"

namespace laneway::handler {

/// "host:port accepts connections", with TLS where the URL is https. Errors: unavailable; configuration for a
/// URL that is none.
Result<std::string> reach_server(const config::HttpSettings& settings, Duration timeout);

}  // namespace laneway::handler
