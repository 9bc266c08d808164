// The rules of routing and named pools. Private to this folder. Pure.
#pragma once

#include <string>
#include <vector>

#include "config/checks/rule_context.h"
#include "config/config.h"

namespace laneway::config {

void check_pool_rules(RuleContext& rules);

/// Settings of pools that are allowed but rarely intended.
std::vector<std::string> warnings_about_pools(const Config& config);

}  // namespace laneway::config
