// Whether what a handler talks to is there, for `laneway check --connect`.
//
// Blocks up to `timeout` and as long as a name server takes. Nothing is sent beyond what a connection needs.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "config/config.h"

namespace laneway::handler {

/// A sentence for people: "host:port accepts connections", with TLS where the URL is https; "/usr/bin/python3
/// starts"; nothing for a handler that talks to no one. Errors: unavailable; configuration for an address
/// that is none.
Result<std::optional<std::string>> reach(const config::Handler& settings, Duration timeout);

}  // namespace laneway::handler
