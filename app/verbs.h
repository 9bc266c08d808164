// The verbs of the command line. Each returns the program's exit code (exit_code.h), and is called once, by
// main, before the process has other threads.
#pragma once

#include "config/loader.h"

namespace laneway::app {

/// The service, until a signal or a fatal error ends it.
int run(const config::Source& source);
/// Prints what is in force and what would happen. `connect`: asks brokers and the handler's server too.
int check(const config::Source& source, bool connect);
/// laneway's own and each library's.
int version();

}  // namespace laneway::app
