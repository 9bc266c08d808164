// What the YAML library reports about one line, in words for people who write configuration files: a comma
// that is missing, text behind a value, a value that needs quotes. Pure.
//
// The messages are those of yaml-cpp 0.7 (yaml-cpp/exceptions.h).
#pragma once

#include <string>

#include "config/yaml/document.h"
#include "config/yaml/lines.h"

namespace laneway::config {

/// `above`: the nearest line above that has text; null if there is none.
Fault explain_message(const Line& line, const Line* above, Position at, const std::string& message);

}  // namespace laneway::config
