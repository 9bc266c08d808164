// Does a program of `handler.exec` start? For `laneway check --connect`.
//
// Blocks up to `timeout` and as long as ExecProcess takes to end it.
#pragma once

#include <string>

#include "base/result.h"
#include "base/time.h"
#include "config/config.h"

namespace laneway::handler {

/// Starts it, gives it no record but the end of its input, and watches it end. A program that has not ended
/// after 2 s, or `timeout`, is ended and counts as right. Errors: unavailable, for one that ends otherwise
/// than with exit status 0; configuration, for one that cannot be executed.
Result<std::string> reach_program(const config::ExecSettings& settings, Duration timeout);

}  // namespace laneway::handler
