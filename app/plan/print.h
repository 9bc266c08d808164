// A sizing as a person reads it: each number with the arithmetic that it comes from. Pure.
#pragma once

#include <string>

#include "app/plan/sizing.h"

namespace laneway::app::plan {

std::string print(const Load& load, const Sizing& sizing);

}  // namespace laneway::app::plan
