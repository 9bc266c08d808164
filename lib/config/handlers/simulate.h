// The keys, the rules and the section of the reference of `handler.simulate`. Pure.
#pragma once

#include "config/handlers/handler_schema.h"

namespace laneway::config {

HandlerSchema schema_of(const SimulateSettings&);

}  // namespace laneway::config
