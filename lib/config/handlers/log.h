// The settings of `handler.log`. The .cpp file has the rest of the handler's configuration: keys, rules, and
// the section of the reference. See handler_schema.h. Pure.
#pragma once

namespace laneway::config {

struct HandlerSchema;

/// `handler.log`: prints each record to standard output.
struct LogSettings {};

HandlerSchema schema_of(const LogSettings&);

}  // namespace laneway::config
