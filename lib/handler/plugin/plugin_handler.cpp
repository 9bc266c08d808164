#include "handler/plugin/plugin_handler.h"

#include <array>

#include "handler/plugin/plugin_library.h"
#include "telemetry/log.h"

namespace laneway::handler {
namespace {

/// Handles one record at a time, on the pool's thread.
class BlockingPlugin final : public PluginHandler {
 public:
  using PluginHandler::PluginHandler;

  void handle(Task task) noexcept override {
    PluginRecord record;
    std::uint32_t index = 0;
    while (const auto attempt = task.next()) {
      record.show(*attempt);
      if (!answer_attempt(task, index++, attempt->stop, handled(record))) return;
    }
  }

 private:
  Outcome handled(const PluginRecord& record) noexcept {
    std::array<char, 1024> reason;
    reason[0] = '\0';
    laneway_failure failure{-1, reason.data(), reason.size()};
    try {
      const laneway_verdict verdict = plugin().table().handle(plugin().data(), &record, &failure);
      if (verdict == LANEWAY_DONE) return record.done();
      reason.back() = '\0';
      return plugin_outcome(verdict, failure.after_ms, reason.data());
    } catch (...) {
      return outcome_of_exception();
    }
  }
};

/// Passes several records at once, or gets answers that come later.
class BatchPlugin final : public PluginHandler {
 public:
  using PluginHandler::PluginHandler;

  std::uint32_t most_per_task() const override { return plugin().most_per_batch(); }
  bool fills_tasks() const override { return plugin().most_per_batch() > 1; }

  void handle(Task task) noexcept override {
    plugin().tasks().run(std::move(task), plugin().most_per_batch(), [this](const laneway_batch& batch) {
      plugin().table().submit(plugin().data(), &batch);
    });
  }
};

Result<std::unique_ptr<Plugin>> start(const config::PluginSettings& settings) {
  const auto table = load_plugin(settings.path);
  if (!table) return table.error();
  return Plugin::start(*table, settings.config);
}

}  // namespace

std::unique_ptr<Handler> PluginHandler::make(std::unique_ptr<Plugin> plugin, Duration timeout) {
  if (plugin->table().handle != nullptr) return std::make_unique<BlockingPlugin>(std::move(plugin), timeout);
  return std::make_unique<BatchPlugin>(std::move(plugin), timeout);
}

Result<std::unique_ptr<Handler>> PluginHandler::make(const config::PluginSettings& settings) {
  auto plugin = start(settings);
  if (!plugin) return plugin.error();
  const auto& table = (*plugin)->table();
  telemetry::info("plugin loaded",
                  {{"plugin", table.name}, {"version", table.version}, {"library", settings.path}});
  return make(std::move(plugin).value(), settings.timeout);
}

Result<std::string> try_plugin(const config::PluginSettings& settings) {
  const auto plugin = start(settings);
  if (!plugin) return plugin.error();
  const auto& table = (*plugin)->table();
  return std::string(table.name) + ' ' + table.version;
}

}  // namespace laneway::handler
