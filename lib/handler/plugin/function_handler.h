// A function of the surrounding program as the handler: like a plugin, without a shared library.
//
// Threads, blocking and the treatment of exceptions are those of laneway::RecordPlugin.
#pragma once

#include <functional>
#include <memory>

#include "handler/handler.h"
#include "laneway/plugin.hpp"

namespace laneway::handler {

std::unique_ptr<Handler> make_function_handler(std::function<Answer(const laneway::Record&)> work,
                                               Duration timeout);

}  // namespace laneway::handler
