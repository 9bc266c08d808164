// Which trace a record belongs to, by its header `traceparent`. Pure.
#pragma once

#include <optional>
#include <string>

#include "kafka/record.h"
#include "telemetry/log.h"
#include "tracing/trace_context.h"

namespace laneway::tracing {

/// Nothing when the header is missing, twice, or not valid.
std::optional<TraceContext> trace_of(const kafka::Record& record);

/// `trace_id`, a field of the log lines about one record; one that is left out where the record has none, or
/// is null.
class TraceField {
 public:
  explicit TraceField(const kafka::Record* record);
  operator telemetry::Field() const { return {text_.empty() ? "" : "trace_id", text_}; }

 private:
  std::string text_;
};

}  // namespace laneway::tracing
