// The rows of the table for rates and failures: rate, retry, ledger, dead_letter, breaker. Private to this
// folder.
#pragma once

#include <vector>

#include "config/property.h"

namespace laneway::config {

void add_lane_rate(std::vector<Property>& table);
void add_failure_properties(std::vector<Property>& table);

}  // namespace laneway::config
