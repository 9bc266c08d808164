// How an event becomes text: the part of a log line after its time stamp. Pure; used by log.cpp alone.
#pragma once

#include <string>
#include <string_view>

#include "telemetry/log.h"

namespace laneway::telemetry {

/// `level=… msg=… name=value…`, or for JSON the members `"level":…,"msg":…` without braces.
std::string render_line(Format format, Level level, std::string_view message, Fields fields);

}  // namespace laneway::telemetry
