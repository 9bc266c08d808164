#include "telemetry/libraries.h"

#include <spdlog/version.h>

namespace laneway::telemetry {

std::vector<Library> libraries() {
  return {{"spdlog", std::to_string(SPDLOG_VER_MAJOR) + '.' + std::to_string(SPDLOG_VER_MINOR) + '.' +
                         std::to_string(SPDLOG_VER_PATCH)},
          // Its headers do not contain the version; the build passes it.
          {"prometheus-cpp", LANEWAY_PROMETHEUS_VERSION}};
}

}  // namespace laneway::telemetry
