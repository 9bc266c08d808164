// Rules between keys: keys that are missing and keys that contradict each other. The rules of a handler's own
// keys are in the handler's file (config/handlers). Pure.
#pragma once

#include <string>
#include <vector>

#include "config/checks/rule_context.h"
#include "config/config.h"
#include "config/yaml/problem.h"

namespace laneway::config {

/// `config` is made of `settings`. Rules about keys that already have a problem are skipped.
void check_rules(const Config& config, const Settings& settings, const Expected& expected,
                 Problems& problems);

/// Settings that are allowed but rarely intended.
std::vector<std::string> warnings_about(const Config& config);

}  // namespace laneway::config
