// The headers of a record that handlers receive. Pure.
#pragma once

#include <vector>

#include "kafka/record.h"
#include "tracing/attempt_trace.h"

namespace laneway::handler {

/// Views of the record's headers; they live as long as the record. If `trace` is given, its traceparent
/// replaces the record's; `trace` must live as long as the views.
std::vector<kafka::Header> shown_headers(const kafka::Record& record, const tracing::AttemptTrace* trace);

}  // namespace laneway::handler
