// The span of one attempt, as handlers pass it on. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "tracing/trace_context.h"

namespace laneway::tracing {

/// Of an attempt that is sampled.
struct AttemptTrace {
  TraceContext context;                  ///< its span
  std::array<std::uint8_t, 8> parent{};  ///< zeros: none
  std::string traceparent;               ///< the header that is passed on
};

}  // namespace laneway::tracing
