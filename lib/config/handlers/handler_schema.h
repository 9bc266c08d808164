// What the configuration knows about one handler beside the struct of its settings. Each handler's file makes
// one HandlerSchema; handlers.h has the table of them. Pure.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "config/config.h"
#include "config/schema/property.h"
#include "config/yaml/settings.h"

namespace laneway::config {

class RuleContext;

/// The handler's section of docs/configuration.md.
struct ReferenceSection {
  int position = 0;  ///< among the handlers, in full.yaml as well
  const char* text = "";
  const char* example = "";  ///< YAML
};

struct HandlerSchema {
  std::string_view name;  ///< its keys stand below handler.<name>
  std::vector<Property> (*properties)();
  /// What contradicts in its keys, or is missing; nullptr: nothing can. These functions see a Config with
  /// this handler, as do the properties.
  void (*check)(RuleContext& rules) = nullptr;
  /// What is allowed but seldom meant.
  std::vector<std::string> (*warnings)(const Config& config) = nullptr;
  /// Changes defaults of keys that are not among `settings`, where others were set.
  void (*set_dependent_defaults)(Config& config, const Settings& settings) = nullptr;
  ReferenceSection section = {};
  HandlerSettings defaults = {};
};

/// Names its alternative of HandlerSettings, so that the compiler can compare the table to the variant.
template <class Alternative>
struct HandlerSchemaOf : HandlerSchema {
  explicit HandlerSchemaOf(HandlerSchema schema) : HandlerSchema(std::move(schema)) {
    defaults = Alternative{};
  }
};

/// From a Config to a field of its handler's settings, for the builders in property.h.
template <class Alternative, class Field>
auto in_handler(Field Alternative::*member) {
  return [=](auto& config) -> auto& { return std::get<Alternative>(config.handler).*member; };
}
/// The same for a field of a struct in the settings.
template <class Alternative, class Group, class Field>
auto in_handler(Group Alternative::*group, Field Group::*member) {
  return [=](auto& config) -> auto& { return std::get<Alternative>(config.handler).*group.*member; };
}

}  // namespace laneway::config
