// A plugin at work: its instance, and what laneway does for it (the functions of laneway_host).
//
// Ownership: whoever made it; it must outlive every record at work. Threads: any, after start(). Blocks as
// the plugin's own functions do; start() and the destructor call its init and shutdown.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "handler/plugin/plugin_tasks.h"
#include "laneway/plugin.h"

namespace laneway::handler {

class Plugin {
 public:
  /// Calls init, where the plugin has one, with `config`, a JSON text; `data` is its instance until init
  /// replaces it. Errors: configuration, in the plugin's words.
  static Result<std::unique_ptr<Plugin>> start(const laneway_plugin& table, const std::string& config,
                                               void* data = nullptr);
  ~Plugin();
  Plugin(const Plugin&) = delete;
  Plugin& operator=(const Plugin&) = delete;

  const laneway_plugin& table() const { return table_; }
  void* data() const { return instance_.data; }
  std::uint32_t most_per_batch() const { return instance_.most_per_batch; }
  PluginTasks& tasks() { return tasks_; }

 private:
  struct Host : laneway_host {
    Plugin* plugin;
  };
  struct Functions;

  Plugin(const laneway_plugin& table, void* data);
  Status init(const std::string& config);

  const laneway_plugin table_;
  Host host_;
  laneway_instance instance_;
  PluginTasks tasks_;
  bool started_ = false;
};

}  // namespace laneway::handler
