// The settings in a file's tree, in the order of the file. Pure: the caller passes the environment in.
#pragma once

#include <string>
#include <vector>

#include "config/load/settings.h"
#include "config/yaml/document.h"
#include "config/yaml/problem.h"

namespace laneway::config {

/// With ${VARIABLES} replaced from `environment`. Names that may not be set are added to `problems`.
std::vector<Setting> settings_of_file(const Node& root, const std::string& file,
                                      const EnvironmentVariables& environment, Problems& problems);

}  // namespace laneway::config
