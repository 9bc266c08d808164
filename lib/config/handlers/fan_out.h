// The keys, the rules and the section of the reference of `handler.fan_out`. Pure.
#pragma once

#include "config/handlers/handler_schema.h"

namespace laneway::config {

HandlerSchema schema_of(const FanOutSettings&);

}  // namespace laneway::config
