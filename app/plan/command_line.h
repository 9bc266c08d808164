// The options of `laneway plan`.
#pragma once

#include <string>

#include "app/plan/options.h"

namespace CLI {
class App;
}

namespace laneway::plan {

/// Adds the verb to the program. Parsing fills `options`, and refuses values that make no sense.
CLI::App* add_verb(CLI::App& program, Options& options);

/// Returns `load` with the values of the command line in place of its own. Pure.
Load with_given(Load load, const Options& options);

}  // namespace laneway::plan
