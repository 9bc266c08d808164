// A function of the surrounding program as the work: what a plugin is in a library of its own, without the
// library.
//
// Threads, blocking and what becomes of exceptions are those of laneway::RecordPlugin.
#pragma once

#include <functional>
#include <memory>

#include "handler/handler.h"
#include "laneway/plugin.hpp"

namespace laneway::handler {

std::unique_ptr<Handler> make_function_handler(std::function<Answer(const laneway::Record&)> work,
                                               Duration timeout);

}  // namespace laneway::handler
