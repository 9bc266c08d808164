// The headers of a record as handlers show them. Pure.
#pragma once

#include <vector>

#include "kafka/record.h"
#include "tracing/attempt_trace.h"

namespace laneway::handler {

/// Views of the record's headers, which live as long as the record; with `trace`, whose life is as long, its
/// traceparent in the place of the record's.
std::vector<kafka::Header> shown_headers(const kafka::Record& record, const tracing::AttemptTrace* trace);

}  // namespace laneway::handler
