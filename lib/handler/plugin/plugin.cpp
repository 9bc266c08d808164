#include "handler/plugin/plugin.h"

#include <algorithm>
#include <array>
#include <exception>

#include "telemetry/log.h"

namespace laneway::handler {
namespace {

constexpr std::uint32_t largest_batch = 10'000;

/// A buffer for the plugin's text about an error.
class Words {
 public:
  char* data() { return text_.data(); }
  std::size_t size() const { return text_.size(); }
  std::string text() {
    text_.back() = '\0';
    return text_[0] == '\0' ? "the plugin gave no reason" : text_.data();
  }

 private:
  std::array<char, 4096> text_{};
};

telemetry::Level level_of(std::int32_t level) {
  switch (level) {
    case LANEWAY_LOG_DEBUG:
      return telemetry::Level::debug;
    case LANEWAY_LOG_INFO:
      return telemetry::Level::info;
    case LANEWAY_LOG_WARN:
      return telemetry::Level::warn;
    default:
      return telemetry::Level::error;
  }
}

const StopToken& stop_of(const laneway_record* record) { return PluginRecord::of(record).stop(); }

}  // namespace

struct Plugin::Functions {
  static Plugin& plugin(const laneway_host* host) { return *static_cast<const Host*>(host)->plugin; }

  static void log(const laneway_host* host, std::int32_t level, const char* text) noexcept {
    if (text == nullptr) return;
    telemetry::log_repeating(level_of(level), std::string("plugin ") + text, "plugin",
                             {{"plugin", plugin(host).table_.name}, {"text", text}});
  }
  static std::size_t header_count(const laneway_host*, const laneway_record* record) noexcept {
    return PluginRecord::of(record).header_count();
  }
  static void header(const laneway_host*, const laneway_record* record, std::size_t index,
                     laneway_header* header) noexcept {
    *header = PluginRecord::of(record).header(index);
  }
  static std::int32_t stop_requested(const laneway_host*, const laneway_record* record) noexcept {
    return stop_of(record).stop_requested() ? 1 : 0;
  }
  static std::int32_t wait(const laneway_host*, const laneway_record* record, std::int64_t ms) noexcept {
    constexpr std::int64_t longest = 3'600'000;
    const auto time = milliseconds(std::clamp<std::int64_t>(ms, 0, longest));
    return stop_of(record).wait_until(SteadyClock::now() + time) ? 1 : 0;
  }
  static std::int32_t answer(const laneway_host* host, std::uint64_t task, std::uint32_t index,
                             laneway_verdict verdict, std::int64_t after_ms, const char* reason) noexcept {
    Plugin& self = plugin(host);
    if (self.tasks_.answer(task, index, plugin_outcome(verdict, after_ms, reason))) return 1;
    telemetry::log_repeating(
        telemetry::Level::error, "plugin answered without being asked",
        "plugin gave an answer that was not expected; the answer is ignored",
        {{"plugin", self.table_.name},
         {"error",
          "the record already has an answer, or an earlier record of its ordered batch is not done"}});
    return 0;
  }
  static void give_up(const laneway_host* host, std::uint64_t task, const char* reason) noexcept {
    plugin(host).tasks_.give_up(task, plugin_outcome(LANEWAY_RETRY, -1, reason));
  }
  static void delivery_id(const laneway_host*, const laneway_record* record, laneway_bytes* id) noexcept {
    const auto& text = PluginRecord::of(record).delivery_id();
    *id = {text.data(), text.size()};
  }
  static void part(const laneway_host*, const laneway_record* record, laneway_bytes* id) noexcept {
    const auto part = PluginRecord::of(record).part();
    *id = {part.empty() ? nullptr : part.data(), part.size()};
  }
  static std::int32_t add_result(const laneway_host* host, const laneway_record* record,
                                 const laneway_result* result) noexcept {
    const auto wrong = PluginRecord::of(record).add_result(result);
    if (wrong.empty()) return 1;
    telemetry::log_repeating(telemetry::Level::error, "plugin gave an invalid result",
                             "plugin gave an invalid result; the record is retried",
                             {{"plugin", plugin(host).table_.name}, {"error", wrong}});
    return 0;
  }
};

Plugin::Plugin(const laneway_plugin& table, void* data)
    : table_(table),
      host_{{LANEWAY_PLUGIN_ABI, sizeof(laneway_host), Functions::log, Functions::header_count,
             Functions::header, Functions::stop_requested, Functions::wait, Functions::answer,
             Functions::give_up, Functions::delivery_id, Functions::part, Functions::add_result},
            this},
      instance_{data, 1} {}

Result<std::unique_ptr<Plugin>> Plugin::start(const laneway_plugin& table, const std::string& config,
                                              void* data) {
  std::unique_ptr<Plugin> plugin(new Plugin(table, data));
  if (auto status = plugin->init(config); !status) return status.error();
  return plugin;
}

Status Plugin::init(const std::string& config) {
  Words words;
  if (table_.init != nullptr &&
      table_.init(&host_, config.c_str(), &instance_, words.data(), words.size()) != 0)
    return Error{ErrorKind::configuration,
                 "handler.plugin: the plugin " + std::string(table_.name) + ' ' + table_.version +
                     " cannot start: " + words.text(),
                 "the reason is the plugin's own text; check handler.plugin.config"};
  instance_.most_per_batch = std::clamp<std::uint32_t>(instance_.most_per_batch, 1, largest_batch);
  started_ = true;
  return {};
}

Plugin::~Plugin() {
  if (!started_ || table_.shutdown == nullptr) return;
  Words words;
  if (table_.shutdown(instance_.data, words.data(), words.size()) != 0)
    telemetry::error("plugin did not shut down cleanly", {{"plugin", table_.name}, {"error", words.text()}});
}

}  // namespace laneway::handler
