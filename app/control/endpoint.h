// Where the service listens, and the token that it wants. Reads files.
#pragma once

#include "admin/client.h"
#include "app/control/options.h"
#include "config/loader.h"

namespace laneway::control {

/// By --admin, else the configuration if one is named, else where services listen. A configuration that is
/// wrong is an error, as everywhere.
Result<admin::Endpoint> find_endpoint(const Options& options, const config::Source& source);

/// The exit code's kind for an answer that is not 2xx.
Error error_of(const admin::Answer& answer);

}  // namespace laneway::control
