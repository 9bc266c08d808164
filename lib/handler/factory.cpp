#include "handler/factory.h"

#include <variant>

#include "handler/exec_handler.h"
#include "handler/http_handler.h"
#include "handler/log_handler.h"
#include "handler/plugin_handler.h"
#include "handler/plugin_library.h"
#include "handler/produce_handler.h"
#include "handler/simulate_handler.h"

namespace laneway::handler {
namespace {

using Made = Result<std::unique_ptr<Handler>>;

struct Maker {
  const config::Config& config;

  Made operator()(const config::LogHandler&) const { return std::unique_ptr<Handler>(new LogHandler); }
  Made operator()(const config::SimulateHandler& settings) const { return SimulateHandler::make(settings); }
  Made operator()(const config::HttpHandler& settings) const { return HttpHandler::make(settings); }
  Made operator()(const config::ExecHandler& settings) const { return ExecHandler::make(settings); }
  Made operator()(const config::PluginHandler& settings) const { return PluginHandler::make(settings); }
  Made operator()(const config::ProduceHandler&) const { return ProduceHandler::make(config); }
};

struct Checker {
  const config::Config& config;

  Status operator()(const config::LogHandler&) const { return {}; }
  Status operator()(const config::SimulateHandler& settings) const {
    return SimulateHandler::check(settings);
  }
  Status operator()(const config::HttpHandler& settings) const {
    const auto server = HttpHandler::check(settings);
    return server ? Status() : server.error();
  }
  Status operator()(const config::ExecHandler& settings) const { return ExecHandler::check(settings); }
  Status operator()(const config::PluginHandler& settings) const {
    const auto file = check_plugin_file(settings.path);
    return file ? Status() : file.error();
  }
  Status operator()(const config::ProduceHandler&) const { return ProduceHandler::check(config); }
};

}  // namespace

Made make_handler(const config::Config& config) { return std::visit(Maker{config}, config.handler); }

Status check_handler(const config::Config& config) { return std::visit(Checker{config}, config.handler); }

}  // namespace laneway::handler
