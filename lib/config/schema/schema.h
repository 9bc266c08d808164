// All of laneway's own settings in one list, those of the handlers (config/handlers) among them: the loader,
// the suggestions for misspelt keys, the dump of the effective configuration and config/full.yaml come from
// it. The client library's keys are in config/client/client_keys.h. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/schema/property.h"

namespace laneway::config {

/// In the order in which people read them. A handler's settings may only be used on a Config with that
/// handler.
const std::vector<Property>& properties();
const Property* find_property(std::string_view path);

/// Has settings below it: "", "kafka", "lanes", "handler", "handler.http".
bool is_section(std::string_view path);
/// Whether `path` names something in `section`.
bool below(std::string_view path, std::string_view section);

struct Objection {
  std::string what;
  std::string hint;
};

/// Why nothing may be set at `path`; nothing when something may.
std::optional<Objection> object_to(std::string_view path);

/// Every name that may be set, kafka's keys among them.
const std::vector<std::string>& known_names();

}  // namespace laneway::config
