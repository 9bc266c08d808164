// The keys, the rules and the section of the reference of `handler.exec`. Pure.
#pragma once

#include "config/handlers/handler_schema.h"

namespace laneway::config {

HandlerSchema schema_of(const ExecSettings&);

}  // namespace laneway::config
