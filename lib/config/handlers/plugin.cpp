#include "config/handlers/handler_schema.h"

#include <functional>

#include "config/checks/rule_context.h"
#include "config/property.h"
#include "config/yaml/json.h"

namespace laneway::config {
namespace {

using std::chrono::hours;

std::string check_library(const std::string& path) {
  return path.starts_with('/') ? "" : "it does not begin with a /";
}

/// The plugin alone knows the keys of this section.
std::optional<BadValue> read_config(PluginSettings& plugin, const Node& node) {
  if (!node.is_map() && !node.is_null()) return BadValue{node, ""};
  plugin.config = node.is_null() ? "{}" : json_of(node);
  plugin.shown_config = node.is_null() ? "{}" : shown_yaml(node);
  return std::nullopt;
}

std::string print_config(const PluginSettings& plugin) { return plugin.shown_config; }

Rows plugin_properties() {
  return rows_of<PluginSettings>({
      {"handler.plugin.library", text("an absolute path", check_library), &PluginSettings::path,
       "The shared library that processes the records.", "/usr/lib/laneway/orders.so"},
      {"handler.plugin.timeout", duration(milliseconds(1), hours(24)), &PluginSettings::timeout,
       "Time limit of one attempt."},
      {"handler.plugin.config", structured("a map with keys of the plugin's own", read_config, print_config),
       std::identity(),
       "Settings of the plugin. laneway passes the map to the plugin as JSON, and does not check the keys."},
  });
}

void check_plugin(const HandlerSettings& handler, RuleContext& rules) {
  if (std::get<PluginSettings>(handler).path.empty())
    rules.require_of_handler("handler.plugin.library", "the absolute path of the plugin's shared library");
}

}  // namespace

HandlerSchema schema_of(const PluginSettings&) {
  return {.name = "plugin",
          .properties = plugin_properties,
          .check = check_plugin,
          .traits = {.occupies = Occupies::core,
                     .gives_results = true,
                     .does_work = true,
                     .output = nullptr,
                     .program = nullptr},
          .section = {
              .position = 4,
              .text = "A shared library of your own, in C or C++: [writing handlers](writing-handlers.md).",
              .example = "handler:\n  plugin: { library: /usr/lib/laneway/orders.so, config: { "
                         "greeting: hello } }\n"}};
}

}  // namespace laneway::config
