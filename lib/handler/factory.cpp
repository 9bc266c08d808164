#include "handler/factory.h"

#include <variant>

#include "handler/exec/exec_handler.h"
#include "handler/http/http_handler.h"
#include "handler/log/log_handler.h"
#include "handler/plugin/plugin_handler.h"
#include "handler/plugin/plugin_library.h"
#include "handler/produce/produce_handler.h"
#include "handler/simulate/simulate_handler.h"

namespace laneway::handler {
namespace {

using Made = Result<std::unique_ptr<Handler>>;

struct Maker {
  const config::Config& config;

  Made operator()(const config::LogSettings&) const { return std::unique_ptr<Handler>(new LogHandler); }
  Made operator()(const config::SimulateSettings& settings) const { return SimulateHandler::make(settings); }
  Made operator()(const config::HttpSettings& settings) const { return HttpHandler::make(settings); }
  Made operator()(const config::ExecSettings& settings) const { return ExecHandler::make(settings); }
  Made operator()(const config::PluginSettings& settings) const { return PluginHandler::make(settings); }
  Made operator()(const config::ProduceSettings&) const { return ProduceHandler::make(config); }
};

struct Checker {
  const config::Config& config;

  Status operator()(const config::LogSettings&) const { return {}; }
  Status operator()(const config::SimulateSettings& settings) const {
    return SimulateHandler::check(settings);
  }
  Status operator()(const config::HttpSettings& settings) const {
    const auto server = HttpHandler::check(settings);
    return server ? Status() : server.error();
  }
  Status operator()(const config::ExecSettings& settings) const { return ExecHandler::check(settings); }
  Status operator()(const config::PluginSettings& settings) const {
    const auto file = check_plugin_file(settings.path);
    return file ? Status() : file.error();
  }
  Status operator()(const config::ProduceSettings&) const { return ProduceHandler::check(config); }
};

}  // namespace

Made make_handler(const config::Config& config) { return std::visit(Maker{config}, config.handler); }

Status check_handler(const config::Config& config) { return std::visit(Checker{config}, config.handler); }

}  // namespace laneway::handler
