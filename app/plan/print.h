// A sizing as a person reads it: each number with the arithmetic that it comes from. Pure.
#pragma once

#include <string>

#include "app/plan/measure.h"
#include "app/plan/sizing.h"

namespace laneway::plan {

std::string print(const Load& load, const Sizing& sizing);
std::string print(const Measured& measured, Duration window);

}  // namespace laneway::plan
