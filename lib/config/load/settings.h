// From the three places where settings are written to one value for each name. settings_of_file.h finds the
// settings of the file.
//
// Precedence: file < environment (LANEWAY_LANES__WORKERS) < command line (--set lanes.workers). A later
// setting replaces earlier ones of the same name, below it and above it, so that handler=log on the command
// line replaces the file's handler. Pure, except that secrets are read from their files here.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "config/yaml/problem.h"

namespace laneway::config {

using EnvironmentVariables = std::map<std::string, std::string>;

/// The settings of all variables that begin with LANEWAY_, without those of service_links.h. `pools`: the
/// names of the file's pools, whose keys may be set; null if they are not known.
std::vector<Setting> settings_of_environment(const EnvironmentVariables& environment,
                                             const std::vector<std::string>* pools, Problems& problems);
/// The settings of "name=value" texts.
std::vector<Setting> settings_of_command_line(const std::vector<std::string>& sets,
                                              const std::vector<std::string>* pools, Problems& problems);

/// The end of a hint, for a text that should have been a list or a map: how to write a list at `place`.
std::string how_to_write_list(const SettingPlace& place, const std::string& path, const std::string& text);

/// One value for each name; `all` is in the order of precedence. Secrets of `*_file` keys are read.
Settings merge(std::vector<Setting> all, Problems& problems);

}  // namespace laneway::config
