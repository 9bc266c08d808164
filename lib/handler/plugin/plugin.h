// A running plugin: its instance, and the functions that laneway provides to it (laneway_host).
//
// Ownership: owned by its maker; it must outlive every running record. Threads: any, after start(). Blocks as
// long as the plugin's own functions do; start() and the destructor call its init and shutdown.
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
  /// Calls init, if the plugin has one, with `config`, a JSON text. `data` is the plugin's instance until
  /// init replaces it. Errors: configuration, in the plugin's words.
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
