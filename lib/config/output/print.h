// A configuration as YAML: the one in force, for `laneway check`, and the reference of all keys. Pure.
#pragma once

#include <string>

#include "config/config.h"

namespace laneway::config {

/// Every setting in force, including defaults. Secrets are printed as *****, as are parts of a URL that may
/// be secret (user, password, query).
std::string print(const Config& config);

/// Every key with its description, its right values and its default: the content of config/full.yaml.
std::string reference();

}  // namespace laneway::config
