#include "config/handlers/handler_schema.h"

#include "config/property.h"

namespace laneway::config {
namespace {

Rows log_properties() { return {}; }

}  // namespace

// Without keys the handler has no section of its own; the page's first section describes it.
HandlerSchema schema_of(const LogSettings&) {
  return {.name = "log",
          .properties = log_properties,
          .traits = {.occupies = Occupies::thread,
                     .gives_results = false,
                     .does_work = true,
                     .output = nullptr,
                     .program = nullptr}};
}

}  // namespace laneway::config
