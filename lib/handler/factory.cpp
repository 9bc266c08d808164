#include "handler/factory.h"

#include <variant>

#include "handler/exec_handler.h"
#include "handler/http_handler.h"
#include "handler/log_handler.h"
#include "handler/plugin_handler.h"
#include "handler/plugin_library.h"
#include "handler/simulate_handler.h"

namespace laneway::handler {
namespace {

using Made = Result<std::unique_ptr<Handler>>;

struct Maker {
  Made operator()(const config::LogHandler&) const { return std::unique_ptr<Handler>(new LogHandler); }
  Made operator()(const config::SimulateHandler& settings) const { return SimulateHandler::make(settings); }
  Made operator()(const config::HttpHandler& settings) const { return HttpHandler::make(settings); }
  Made operator()(const config::ExecHandler& settings) const { return ExecHandler::make(settings); }
  Made operator()(const config::PluginHandler& settings) const { return PluginHandler::make(settings); }
};

}  // namespace

Made make_handler(const config::Handler& settings) { return std::visit(Maker{}, settings); }

Status check_handler(const config::Handler& settings) {
  if (const auto* plugin = std::get_if<config::PluginHandler>(&settings))
    return check_plugin_file(plugin->library);
  const auto made = make_handler(settings);
  return made ? Status() : made.error();
}

}  // namespace laneway::handler
