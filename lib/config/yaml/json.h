// A part of the configuration that is not ours, as a text for its owner. Pure.
#pragma once

#include <string>

#include "config/yaml/document.h"

namespace laneway::config {

/// As JSON in one line. Text without quotes that is a JSON number, true, false or null is that; all else is a
/// string.
std::string json_of(const Node& node);

/// As YAML in one line, for people: of texts only those that are given by a variable, as ${NAME}; others are
/// *****.
std::string shown_yaml(const Node& node);

}  // namespace laneway::config
