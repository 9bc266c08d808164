// The options of `laneway dlq list | show | redrive`.
#pragma once

#include "app/dlq/options.h"

namespace CLI {
class App;
}

namespace laneway::dlq {

/// Adds the verb to the program. Parsing fills `options`, and refuses texts that are not a time or a place.
CLI::App* add_verb(CLI::App& program, Options& options);

}  // namespace laneway::dlq
