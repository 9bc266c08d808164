// A sizing as text: each number with its arithmetic. Pure.
#pragma once

#include <string>

#include "app/plan/measure.h"
#include "app/plan/sizing.h"

namespace laneway::plan {

std::string print(const Load& load, const Sizing& sizing);
std::string print(const Measured& measured, Duration window);

}  // namespace laneway::plan
