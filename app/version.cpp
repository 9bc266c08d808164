#include <CLI/Version.hpp>
#include <iostream>

#include "admin/libraries.h"
#include "app/exit_code.h"
#include "app/verbs.h"
#include "config/libraries.h"
#include "handler/registry.h"
#include "kafka/libraries.h"
#include "telemetry/libraries.h"

namespace laneway::app {

int version() {
  std::cout << "laneway " LANEWAY_VERSION "\n";
  for (const auto& libraries : {kafka::libraries(), config::libraries(), telemetry::libraries(),
                                handler::libraries(), admin::libraries()})
    for (const Library& library : libraries) std::cout << library.name << ' ' << library.version << '\n';
  std::cout << "CLI11 " CLI11_VERSION "\n";
  if (*LANEWAY_ALLOCATOR != 0) std::cout << LANEWAY_ALLOCATOR "\n";
  return exit_code::done;
}

}  // namespace laneway::app
