// Checks that a program of `handler.exec` starts, for `laneway check --connect`.
//
// Blocks up to `timeout`, and as long as ExecProcess takes to end the program.
#pragma once

#include <string>

#include "base/result.h"
#include "base/time.h"
#include "config/config.h"

namespace laneway::handler {

/// Starts the program, closes its input without a record, and waits for its end. A program that has not ended
/// after 2 s, or `timeout`, is ended and counts as working. Errors: unavailable, for a program that ends with
/// another exit status than 0; configuration, for a program that cannot be executed.
Result<std::string> reach_program(const config::ExecSettings& settings, Duration timeout);

}  // namespace laneway::handler
