// What no single value can tell: keys that are missing and keys that contradict each other. Pure.
#pragma once

#include <string>
#include <vector>

#include "config/config.h"
#include "config/problem.h"
#include "config/settings.h"

namespace laneway::config {

/// `config` is what the settings gave. A rule about a key that has a problem already is left out. `file` is
/// the place of what is missing.
void check_rules(const Config& config, const Settings& settings, const Place& file, Problems& problems);

/// What is allowed but seldom meant.
std::vector<std::string> warnings_about(const Config& config);

}  // namespace laneway::config
