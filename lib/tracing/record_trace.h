// The trace that a record belongs to, according to its header `traceparent`. Pure.
#pragma once

#include <optional>
#include <string>

#include "kafka/record.h"
#include "telemetry/log.h"
#include "tracing/trace_context.h"

namespace laneway::tracing {

/// nullopt if the header is missing, present twice, or invalid.
std::optional<TraceContext> trace_of(const kafka::Record& record);

/// `trace_id`, a field of the log lines about one record. The field is omitted if the record has no trace, or
/// is null.
class TraceField {
 public:
  explicit TraceField(const kafka::Record* record);
  operator telemetry::Field() const { return {text_.empty() ? "" : "trace_id", text_}; }

 private:
  std::string text_;
};

}  // namespace laneway::tracing
