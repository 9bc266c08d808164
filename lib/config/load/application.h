// Puts settings into a Config: those of the service, then those of its named pools. Pure, except for the
// properties that read a file when they are set.
#pragma once

#include <string>
#include <vector>

#include "config/config.h"
#include "config/yaml/problem.h"

namespace laneway::config {

/// The pools that a file names, in its order: settings_of_file() has a setting for the name of each.
std::vector<std::string> pools_of_file(const std::vector<Setting>& settings);

/// The settings of the service are the defaults of its `pools`.
void apply_settings(Config& config, const Settings& settings, const std::vector<std::string>& pools,
                    Problems& problems);

/// So that `then` leads to later pools only, otherwise in the order of the file. Pools in a cycle come last.
void order_pools(std::vector<PoolSettings>& pools);

}  // namespace laneway::config
