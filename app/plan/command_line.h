// The options of `laneway plan`.
#pragma once

#include <CLI/CLI.hpp>

#include "app/plan/sizing.h"

namespace laneway::app::plan {

/// The verb; parsing fills `load`. What makes no sense is refused while parsing.
CLI::App* add_verb(CLI::App& program, Load& load);

}  // namespace laneway::app::plan
