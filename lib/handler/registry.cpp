#include "handler/registry.h"

#include <utility>
#include <variant>

#include "config/pools/pool_scope.h"
#include "curl/libraries.h"
#include "handler/exec/exec_handler.h"
#include "handler/http/http_handler.h"
#include "handler/log/log_handler.h"
#include "handler/plugin/plugin_handler.h"
#include "handler/plugin/plugin_library.h"
#include "handler/produce/produce_handler.h"
#include "handler/produce/produce_topics.h"
#include "handler/simulate/simulate_handler.h"
#include "handler/subscribers/fan_out_handler.h"

namespace laneway::handler {
namespace {

using Made = Result<std::unique_ptr<Handler>>;
using Reached = Result<std::optional<std::string>>;
using Libraries = std::vector<Library>;
using OutputTopics = Result<std::vector<kafka::TopicInfo>>;

Reached optional(Result<std::string> reached) {
  if (!reached) return reached.error();
  return std::optional(std::move(reached).value());
}

/// The pool whose handler is made or checked.
struct Asked {
  const config::Config& config;
  const config::PoolSettings& pool;
};

/// The parameters of find_output_topics().
struct OutputQuestion {
  const config::Config& config;
  const std::vector<kafka::TopicInfo>& inputs;
  kafka::Directory& directory;
  Duration timeout;
};

/// The defaults of most handlers: they write to no topic, and use no outside library.
struct PlainRow {
  template <class Settings>
  static OutputTopics outputs(const Settings&, const OutputQuestion&) {
    return std::vector<kafka::TopicInfo>();
  }
  static Libraries libraries() { return {}; }
};

/// The row of a type of settings. A type without a row does not compile.
template <class Settings>
struct Row;

template <>
struct Row<config::LogSettings> : PlainRow {
  using Settings = config::LogSettings;
  static Made make(const Settings&, const Asked&) { return std::unique_ptr<Handler>(new LogHandler); }
  static Status check(const Settings&, const Asked&) { return {}; }
  static Reached reach(const Settings&, Duration) { return std::optional<std::string>(); }
  static Resources resources(const Settings&) { return {.workers = true}; }
};

template <>
struct Row<config::SimulateSettings> : PlainRow {
  using Settings = config::SimulateSettings;
  static Made make(const Settings& settings, const Asked&) { return SimulateHandler::make(settings); }
  static Status check(const Settings& settings, const Asked&) { return SimulateHandler::check(settings); }
  static Reached reach(const Settings&, Duration) { return std::optional<std::string>(); }
  static Resources resources(const Settings&) { return {.workers = true}; }
};

template <>
struct Row<config::HttpSettings> : PlainRow {
  using Settings = config::HttpSettings;
  static Made make(const Settings& settings, const Asked& asked) {
    return HttpHandler::make(settings, asked.pool.passes_on());
  }
  static Status check(const Settings& settings, const Asked&) {
    const auto server = HttpHandler::check(settings);
    return server ? Status() : server.error();
  }
  static Reached reach(const Settings& settings, Duration timeout) {
    return optional(HttpHandler::reach(settings, timeout));
  }
  static Resources resources(const Settings& settings) {
    const auto threads = HttpHandler::threads(settings);
    return {.workers = false,
            .threads = threads,
            .requests = Requests{settings.connections, settings.batch.records},
            .descriptors_always = 2 * threads,  // an epoll and an eventfd for each loop
            .descriptors_per_call = 1};
  }
  static Libraries libraries() { return curl::libraries(); }
};

template <>
struct Row<config::ExecSettings> : PlainRow {
  using Settings = config::ExecSettings;
  static Made make(const Settings& settings, const Asked& asked) {
    return ExecHandler::make(settings, asked.pool.passes_on());
  }
  static Status check(const Settings& settings, const Asked&) { return ExecHandler::check(settings); }
  static Reached reach(const Settings& settings, Duration timeout) {
    return optional(ExecHandler::reach(settings, timeout));
  }
  static Resources resources(const Settings&) {
    return {.workers = true,
            .descriptors_always = 6,     // while a program starts: both ends of its three pipes
            .descriptors_per_call = 4};  // three pipes, and the descriptor that signals its end
  }
};

template <>
struct Row<config::PluginSettings> : PlainRow {
  using Settings = config::PluginSettings;
  static Made make(const Settings& settings, const Asked&) { return PluginHandler::make(settings); }
  static Status check(const Settings& settings, const Asked&) {
    const auto file = check_plugin_file(settings.path);
    return file ? Status() : file.error();
  }
  static Reached reach(const Settings& settings, Duration) {
    const auto name = try_plugin(settings);
    if (!name) return name.error();
    return std::optional("the plugin " + *name + " accepts its configuration");
  }
  static Resources resources(const Settings&) { return {.workers = true}; }
};

template <>
struct Row<config::ProduceSettings> : PlainRow {
  using Settings = config::ProduceSettings;
  static Made make(const Settings& settings, const Asked& asked) {
    return ProduceHandler::make(asked.config, settings);
  }
  static Status check(const Settings& settings, const Asked& asked) {
    return ProduceHandler::check(asked.config, settings);
  }
  static Reached reach(const Settings&, Duration) { return std::optional<std::string>(); }
  static OutputTopics outputs(const Settings& settings, const OutputQuestion& asked) {
    return find_produce_topics(asked.config, settings, asked.inputs, asked.directory, asked.timeout);
  }
  static Resources resources(const Settings&) { return {.workers = false, .produces = true}; }
};

template <>
struct Row<config::FanOutSettings> : PlainRow {
  using Settings = config::FanOutSettings;
  static Made make(const Settings& settings, const Asked& asked) {
    return FanOutHandler::make(settings, asked.pool.passes_on());
  }
  static Status check(const Settings& settings, const Asked& asked) {
    return FanOutHandler::check(settings, asked.pool.passes_on());
  }
  static Reached reach(const Settings&, Duration) { return std::optional<std::string>(); }
  static Resources resources(const Settings&) { return {.workers = true}; }
};

/// The result of `ask(row, settings)`, with the row of these settings.
template <class Ask>
auto ask_row(const config::HandlerSettings& handler, const Ask& ask) {
  return std::visit(
      [&ask]<class Settings>(const Settings& settings) { return ask(Row<Settings>(), settings); }, handler);
}

void append_new(Libraries& all, const Libraries& more) {
  for (const auto& library : more)
    if (std::none_of(all.begin(), all.end(), [&](const auto& known) { return known.name == library.name; }))
      all.push_back(library);
}

template <class... Settings>
Libraries libraries_of(const std::variant<Settings...>*) {
  Libraries all;
  (append_new(all, Row<Settings>::libraries()), ...);
  return all;
}

}  // namespace

Made make_handler(const config::Config& config, const config::PoolSettings& pool) {
  const Asked asked{config, pool};
  return ask_row(config.handler_of(pool),
                 [&](auto row, const auto& settings) { return row.make(settings, asked); });
}

Status check_handler(const config::Config& config) {
  for (const auto& pool : config::stages_of(config)) {
    const Asked asked{config, pool};
    auto checked = ask_row(config.handler_of(pool),
                           [&](auto row, const auto& settings) { return row.check(settings, asked); });
    if (!checked) return checked;
  }
  return {};
}

Reached reach(const config::HandlerSettings& settings, Duration timeout) {
  return ask_row(settings, [&](auto row, const auto& its) { return row.reach(its, timeout); });
}

OutputTopics find_output_topics(const config::Config& config, const std::vector<kafka::TopicInfo>& inputs,
                                kafka::Directory& directory, Duration timeout) {
  const auto deadline = Deadline::in(timeout);
  std::vector<kafka::TopicInfo> all;
  for (const auto& pool : config::stages_of(config)) {
    const OutputQuestion asked{config, inputs, directory,
                               std::max<Duration>(deadline.left(), milliseconds(1))};
    auto found = ask_row(config.handler_of(pool),
                         [&](auto row, const auto& settings) { return row.outputs(settings, asked); });
    if (!found) return found;
    for (auto& topic : *found)
      if (std::none_of(all.begin(), all.end(), [&](const auto& known) { return known.name == topic.name; }))
        all.push_back(std::move(topic));
  }
  return all;
}

Resources resources_of(const config::HandlerSettings& settings) {
  return ask_row(settings, [](auto row, const auto& its) { return row.resources(its); });
}

Libraries libraries() { return libraries_of(static_cast<const config::HandlerSettings*>(nullptr)); }

}  // namespace laneway::handler
