// The settings of `handler.log`. The .cpp file has the rest of the handler's configuration: keys, rules, and
// the section of the reference. See handler_schema.h. Pure.
#pragma once

namespace laneway::config {

template <class Alternative>
struct HandlerSchemaOf;

/// `handler.log`: prints each record to standard output.
struct LogSettings {};

HandlerSchemaOf<LogSettings> log_schema();

}  // namespace laneway::config
