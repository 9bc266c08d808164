// The words of `laneway status | suspend | resume | skip | reload` on the command line.
#pragma once

#include <vector>

#include "app/control/options.h"
#include "config/loader.h"

namespace CLI {
class App;
}

namespace laneway::control {

/// Adds the verbs to the program; `options` and `source` are filled when one of them is parsed.
std::vector<CLI::App*> add_verbs(CLI::App& program, Options& options, config::Source& source);

}  // namespace laneway::control
