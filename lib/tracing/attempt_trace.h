// The span of one attempt, which handlers pass on. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "tracing/trace_context.h"

namespace laneway::tracing {

/// The trace of a sampled attempt.
struct AttemptTrace {
  TraceContext context;                  ///< the attempt's span
  std::array<std::uint8_t, 8> parent{};  ///< zeros if there is no parent
  std::string traceparent;               ///< the header that is passed on
};

}  // namespace laneway::tracing
