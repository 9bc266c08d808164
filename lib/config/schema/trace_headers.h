// The headers of the requests to an OpenTelemetry collector: `trace.headers`, and the variables that
// OpenTelemetry defines for them. The values are secrets: they are never printed. Pure.
#pragma once

#include <map>
#include <string>

#include "config/config.h"
#include "config/property.h"
#include "config/yaml/problem.h"

namespace laneway::config {

Property trace_headers_property(Reload reload);

/// Adds the headers of OTEL_EXPORTER_OTLP_TRACES_HEADERS, else OTEL_EXPORTER_OTLP_HEADERS, which have the
/// form "name=value,name=value" with %XX in values, unless the configuration has a header of that name or no
/// collector.
void add_trace_headers(Config& config, const std::map<std::string, std::string>& environment,
                       Problems& problems);

}  // namespace laneway::config
