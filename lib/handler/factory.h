// From a configured handler (`config.handler`) to a running one.
//
// The caller owns the handler; it must outlive the pools that call it. Errors have kind configuration and
// name the key.
#pragma once

#include <memory>

#include "base/result.h"
#include "config/config.h"
#include "handler/handler.h"

namespace laneway::handler {

Result<std::unique_ptr<Handler>> make_handler(const config::Config& config);

/// What can be said of the settings without effects: no handler is made, no code of the user runs, nobody is
/// contacted, and a transactional service under the same id goes on. Of a plugin its file is looked at.
Status check_handler(const config::Config& config);

}  // namespace laneway::handler
