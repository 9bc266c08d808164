// From settings to Config::pools. Private to this module. Pure, except for properties that read files.
#pragma once

#include <string>
#include <vector>

#include "config/config.h"
#include "config/yaml/problem.h"

namespace laneway::config {

/// The pools that a file names, in its order: settings_of_file() has a setting for the name of each.
std::vector<std::string> pools_of_file(const std::vector<Setting>& settings);

/// To be called when `config` has the settings of the service, which are the defaults of its pools. The pools
/// are in the order of the file.
void apply_pools(Config& config, const Settings& settings, Problems& problems);

/// So that `then` leads to later pools only, otherwise in the order of the file. Pools in a cycle come last.
void order_pools(std::vector<Pool>& pools);

}  // namespace laneway::config
