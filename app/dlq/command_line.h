// The words of `laneway dlq list | show | redrive` on the command line.
#pragma once

#include "app/dlq/options.h"

namespace CLI {
class App;
}

namespace laneway::dlq {

/// Adds the verb to the program; `options` is filled when it is parsed. What cannot be read of a time is
/// refused as CLI11 does.
CLI::App* add_verb(CLI::App& program, Options& options);

}  // namespace laneway::dlq
