#include "handler/format/shown_headers.h"

#include "tracing/trace_context.h"

namespace laneway::handler {

std::vector<kafka::Header> shown_headers(const kafka::Record& record, const tracing::AttemptTrace* trace) {
  auto headers = record.headers();
  if (trace == nullptr) return headers;
  std::erase_if(headers, [](const auto& header) { return header.name == tracing::traceparent_header; });
  headers.push_back({tracing::traceparent_header, trace->traceparent});
  return headers;
}

}  // namespace laneway::handler
