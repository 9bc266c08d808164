// Spans `pool.process`, one for each sampled attempt: a span begins when the handler gets the record, ends
// with the answer, and is exported by span_exporter.h.
//
// A record with a valid header `traceparent` continues that trace, sampled or not as the header says. Of the
// other records a fraction is sampled, chosen by topic, partition and offset, so that all attempts at a
// record are in one trace. Handlers pass the span on, in place of the header.
//
// Threads: any; nothing blocks.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "config/config.h"
#include "kafka/record.h"
#include "tracing/attempt_trace.h"
#include "tracing/span_exporter.h"

namespace laneway::tracing {

class Tracer {
 public:
  /// Errors: configuration if trace.otlp is not a valid address; internal if the system refuses a thread.
  static Result<std::unique_ptr<Tracer>> make(const config::Config& config);

  /// Returns null if the attempt is not sampled.
  std::unique_ptr<AttemptTrace> begin(const kafka::Record& record) noexcept;
  /// `partition` and `offset`: the place where the record was read.
  struct End {
    const std::string& topic;
    std::int32_t partition;
    std::int64_t offset;
    std::uint32_t attempt;
    TimePoint start;
    TimePoint end;
    const char* outcome;
    const std::string& reason;
  };
  void end(const AttemptTrace& trace, const End& end) noexcept;

  SpanExporter::Counts counts() const { return exporter_.counts(); }

 private:
  Tracer(const config::Config& config, std::uint64_t seed);
  std::int64_t wall(TimePoint at) const;

  const double sample_;
  const std::uint64_t seed_;
  const std::chrono::steady_clock::time_point machine_origin_;
  const std::int64_t wall_origin_;  // ns since 1970
  std::atomic<std::uint64_t> next_{0};
  SpanExporter exporter_;
};

}  // namespace laneway::tracing
