// How an event becomes text: the part of a log line after its time stamp. Pure; used in this folder alone.
#pragma once

#include <string>
#include <string_view>

#include "telemetry/log.h"

namespace laneway::telemetry {

/// `level=… msg=… name=value…`, or for JSON the members `"level":…,"msg":…` without braces.
std::string render_line(Format format, Level level, std::string_view message, Fields fields);
/// The message as it is with control characters escaped, and the fields as in text.
std::string render_message(std::string_view message, Fields fields);
/// A value without quotes or escapes.
std::string render_plain(const Field::Value& value);

}  // namespace laneway::telemetry
