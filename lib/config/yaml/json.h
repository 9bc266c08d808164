// A part of the configuration that belongs to a plugin, as a text. Pure.
#pragma once

#include <string>

#include "config/yaml/document.h"

namespace laneway::config {

/// As JSON in one line. Text without quotes that is a JSON number, true, false or null stays so; every other
/// text becomes a string.
std::string json_of(const Node& node);

/// As YAML in one line, for people. Texts that come from a variable are shown as ${NAME}, all other texts as
/// *****.
std::string shown_yaml(const Node& node);

}  // namespace laneway::config
