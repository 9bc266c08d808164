#include "tracing/record_trace.h"

#include <algorithm>

namespace laneway::tracing {

std::optional<TraceContext> trace_of(const kafka::Record& record) {
  const auto headers = record.raw_headers();
  const auto is_traceparent = [](const kafka::Header& h) { return h.name == traceparent_header; };
  const auto found = std::find_if(headers.begin(), headers.end(), is_traceparent);
  if (found == headers.end() || std::count_if(found, headers.end(), is_traceparent) > 1) return std::nullopt;
  return parse_traceparent(found->value.value_or(""));
}

TraceField::TraceField(const kafka::Record* record) {
  if (record == nullptr || !*record) return;
  if (const auto trace = trace_of(*record)) text_ = print_id(trace->trace_id);
}

}  // namespace laneway::tracing
