// `handler.plugin`: a shared library of the user's does the work; see include/laneway/plugin.h.
//
// A plugin with handle() blocks a pool thread for each record. A plugin with submit() takes all records of a
// task at once and answers whenever it wants: each batch occupies one of `lanes.workers` until it is
// answered, however long that takes.
//
// Threads: any number. A plugin that ignores its stop keeps its place, like any handler that hangs.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "config/config.h"
#include "handler/handler.h"
#include "handler/plugin/plugin.h"

namespace laneway::handler {

class PluginHandler : public Handler {
 public:
  PluginHandler(std::unique_ptr<Plugin> plugin, Duration timeout)
      : plugin_(std::move(plugin)), timeout_(timeout) {}

  /// Loads and starts the plugin. Errors: configuration.
  static Result<std::unique_ptr<Handler>> make(const config::PluginSettings& settings);
  /// Makes a handler of a plugin that is already started.
  static std::unique_ptr<Handler> make(std::unique_ptr<Plugin> plugin, Duration timeout);

  Duration timeout() const override { return timeout_; }
  std::string name() const override { return plugin_->table().name; }

 protected:
  Plugin& plugin() { return *plugin_; }
  const Plugin& plugin() const { return *plugin_; }

 private:
  const std::unique_ptr<Plugin> plugin_;
  const Duration timeout_;
};

/// Loads, starts and ends the plugin, to check whether it accepts its configuration. Blocks as long as the
/// plugin's init and shutdown do. Returns the plugin's name and version. Error: configuration.
Result<std::string> try_plugin(const config::PluginSettings& settings);

}  // namespace laneway::handler
