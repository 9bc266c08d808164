// The settings of any handler: one alternative for each handler.
#pragma once

#include <variant>

#include "config/handlers/exec.h"
#include "config/handlers/fan_out.h"
#include "config/handlers/http.h"
#include "config/handlers/log.h"
#include "config/handlers/plugin.h"
#include "config/handlers/produce.h"
#include "config/handlers/simulate.h"

namespace laneway::config {

/// One alternative for each handler, whose header declares schema_of() for it.
using HandlerSettings = std::variant<LogSettings, SimulateSettings, HttpSettings, ExecSettings,
                                     PluginSettings, ProduceSettings, FanOutSettings>;

}  // namespace laneway::config
