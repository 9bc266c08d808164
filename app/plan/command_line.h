// The options of `laneway plan`.
#pragma once

#include <string>

#include "app/plan/options.h"

namespace CLI {
class App;
}

namespace laneway::plan {

/// The verb; parsing fills `options`. What makes no sense is refused while parsing.
CLI::App* add_verb(CLI::App& program, Options& options);

/// `load` with what was given in the place of its own. Pure.
Load with_given(Load load, const Options& options);

/// "http://host:port/" and "host:port" are the same. Pure.
std::string address_in(std::string url);

}  // namespace laneway::plan
