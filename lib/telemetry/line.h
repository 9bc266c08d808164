// Turns an event into text: the part of a log line after its time stamp. Pure; used in this folder only.
#pragma once

#include <string>
#include <string_view>

#include "telemetry/field.h"

namespace laneway::telemetry {

/// False for a field without a name, for an empty text, and for an offset below 0, which means that there is
/// no offset.
bool is_shown(const Field& field);
/// `level=… msg=… name=value…`, or in JSON the members `"level":…,"msg":…` without braces.
std::string render_line(Format format, Level level, std::string_view message, Fields fields);
/// The message with only its control characters escaped, and the fields as in the text format.
std::string render_message(std::string_view message, Fields fields);
/// A value without quotes or escapes.
std::string render_plain(const Field::Value& value);

}  // namespace laneway::telemetry
