// The keys, the rules and the section of the reference of `handler.log`. Pure.
#pragma once

#include "config/handlers/handler_schema.h"

namespace laneway::config {

HandlerSchema schema_of(const LogSettings&);

}  // namespace laneway::config
