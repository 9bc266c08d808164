// `handler.plugin`: the work is done by a shared library of the user's; see include/laneway/plugin.h.
//
// A plugin with handle() blocks a pool thread for each record; one with submit() takes a task's records at
// once and answers when it likes: each batch is one of `lanes.workers` until it is answered, however long
// that takes.
//
// Threads: any number. A plugin that ignores its stop keeps its place, as any handler that hangs.
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

  /// Loads and starts it. Errors: configuration.
  static Result<std::unique_ptr<Handler>> make(const config::PluginSettings& settings);
  /// For a plugin that is started.
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

/// Loads, starts and ends the plugin, which says by that whether it takes its configuration; its name and
/// version.
Result<std::string> try_plugin(const config::PluginSettings& settings);

}  // namespace laneway::handler
