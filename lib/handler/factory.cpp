#include "handler/factory.h"

#include <variant>

#include "handler/exec_handler.h"
#include "handler/http_handler.h"
#include "handler/log_handler.h"
#include "handler/simulate_handler.h"

namespace laneway::handler {
namespace {

using Made = Result<std::unique_ptr<Handler>>;

struct Maker {
  Made operator()(const config::LogHandler&) const { return std::unique_ptr<Handler>(new LogHandler); }
  Made operator()(const config::SimulateHandler& settings) const { return SimulateHandler::make(settings); }
  Made operator()(const config::HttpHandler& settings) const { return HttpHandler::make(settings); }
  Made operator()(const config::ExecHandler& settings) const { return ExecHandler::make(settings); }
};

}  // namespace

Made make_handler(const config::Handler& settings) { return std::visit(Maker{}, settings); }

}  // namespace laneway::handler
