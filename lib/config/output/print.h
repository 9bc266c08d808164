// A configuration as YAML again: the one in force, for `laneway check`, and the reference of all keys. Pure.
#pragma once

#include <string>

#include "config/config.h"

namespace laneway::config {

/// Every setting in force, defaults too. Secrets are *****, so is what may be one in a URL (user, password,
/// query).
std::string print(const Config& config);

/// Every key with what it expects, its description and its default: the content of config/full.yaml.
std::string reference();

}  // namespace laneway::config
