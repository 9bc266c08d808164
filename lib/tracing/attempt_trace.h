// The span of one attempt, as handlers pass it on. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "kafka/record.h"
#include "tracing/trace_context.h"

namespace laneway::tracing {

/// Of an attempt that is sampled.
struct AttemptTrace {
  TraceContext context;                  ///< its span
  std::array<std::uint8_t, 8> parent{};  ///< zeros: none
  std::string traceparent;               ///< the header that is passed on
};

/// The headers of a record as handlers show them: with `trace`, its traceparent in the place of the record's.
std::vector<kafka::Header> shown_headers(const kafka::Record& record, const AttemptTrace* trace);

}  // namespace laneway::tracing
