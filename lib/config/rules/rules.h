// What no single value can tell: keys that are missing and keys that contradict each other. What concerns the
// keys of one handler stands with that handler (config/handlers). Pure.
#pragma once

#include <string>
#include <vector>

#include "config/config.h"
#include "config/rules/rule_context.h"
#include "config/yaml/problem.h"
#include "config/yaml/settings.h"

namespace laneway::config {

/// `config` is what the settings gave. A rule about a key that has a problem already is left out.
void check_rules(const Config& config, const Settings& settings, const Expected& expected,
                 Problems& problems);

/// What is allowed but seldom meant.
std::vector<std::string> warnings_about(const Config& config);

}  // namespace laneway::config
