// The settings of `handler.log`; the .cpp file has all else that the configuration knows about this handler:
// its keys, its rules, its section of the reference. See handler_schema.h. Pure.
#pragma once

namespace laneway::config {

template <class Alternative>
struct HandlerSchemaOf;

/// `handler.log`: prints each record to standard output; for looking.
struct LogSettings {};

HandlerSchemaOf<LogSettings> log_schema();

}  // namespace laneway::config
