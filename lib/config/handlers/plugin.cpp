#include "config/handlers/plugin.h"

#include "config/checks/rule_context.h"
#include "config/property.h"
#include "config/yaml/json.h"

namespace laneway::config {
namespace {

using std::chrono::hours;

Property library_property() {
  Property property = text("handler.plugin.library", handler_at_start, "an absolute path",
                           "The shared library that processes the records.",
                           in_handler(&PluginSettings::path), [](const std::string& path) {
                             return std::string(path.starts_with('/') ? "" : "it does not begin with a /");
                           });
  property.example = "/usr/lib/laneway/orders.so";
  return property;
}

/// The plugin alone knows the keys of this section.
Property plugin_config_property() {
  Property property(
      "handler.plugin.config", handler_at_start, "a map with keys of the plugin's own",
      "Settings of the plugin. laneway passes the map to the plugin as JSON, and does not check the keys.");
  property.structured = true;
  property.set = [](Config& config, const Node& node) -> std::optional<BadValue> {
    if (!node.is_map() && !node.is_null()) return BadValue{node, ""};
    auto& plugin = std::get<PluginSettings>(config.handler);
    plugin.config = node.is_null() ? "{}" : json_of(node);
    plugin.shown_config = node.is_null() ? "{}" : shown_yaml(node);
    return std::nullopt;
  };
  property.print = [](const Config& config) { return std::get<PluginSettings>(config.handler).shown_config; };
  property.equal = [](const Config& a, const Config& b) {
    return std::get<PluginSettings>(a.handler).config == std::get<PluginSettings>(b.handler).config;
  };
  return property;
}

std::vector<Property> plugin_properties() {
  std::vector<Property> table;
  table.push_back(library_property());
  table.push_back(duration("handler.plugin.timeout", handler_at_start, milliseconds(1), hours(24),
                           "Time limit of one attempt.", in_handler(&PluginSettings::timeout)));
  table.push_back(plugin_config_property());
  return table;
}

void check_plugin(RuleContext& rules) {
  if (std::get<PluginSettings>(rules.config().handler).path.empty())
    rules.require_of_handler("handler.plugin.library", "the absolute path of the plugin's shared library");
}

}  // namespace

HandlerSchema schema_of(const PluginSettings&) {
  return {
      .name = "plugin",
      .properties = plugin_properties,
      .check = check_plugin,
      .traits = {.occupies = Occupies::core, .gives_results = true, .output = nullptr, .program = nullptr},
      .section = {
          .position = 4,
          .text = "A shared library of your own, in C or C++: [writing handlers](writing-handlers.md).",
          .example = "handler:\n  plugin: { library: /usr/lib/laneway/orders.so, config: { "
                     "greeting: hello } }\n"}};
}

}  // namespace laneway::config
