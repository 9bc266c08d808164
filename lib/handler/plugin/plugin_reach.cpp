#include "handler/plugin/plugin_reach.h"

#include "handler/plugin/plugin_handler.h"

namespace laneway::handler {

Result<std::string> reach_plugin(const config::PluginSettings& settings) {
  const auto name = try_plugin(settings);
  if (!name) return name.error();
  return "the plugin " + *name + " accepts its configuration";
}

}  // namespace laneway::handler
