// The settings of `handler.plugin`. The .cpp file has the rest of the handler's configuration: keys, rules,
// and the section of the reference. See handler_schema.h. Pure.
#pragma once

#include <string>

#include "base/time.h"

namespace laneway::config {

struct HandlerSchema;

/// `handler.plugin`: a shared library processes the records.
struct PluginSettings {
  std::string path;  ///< of the shared library, absolute
  Duration timeout = seconds(30);
  std::string config = "{}";        ///< the section handler.plugin.config as JSON
  std::string shown_config = "{}";  ///< the same as YAML, without texts that may be secret
};

HandlerSchema schema_of(const PluginSettings&);

}  // namespace laneway::config
