#include "tracing/tracer.h"

#include <algorithm>
#include <random>
#include <system_error>
#include <utility>

#include "base/mix.h"
#include "curl/url.h"
#include "tracing/record_trace.h"

namespace laneway::tracing {
namespace {

/// A number that is the same for every attempt at a record, and differs between processes.
std::uint64_t number_of(const kafka::Record& record, std::uint64_t seed) {
  const auto place = mixed(seed ^ std::hash<std::string_view>{}(record.topic())) +
                     static_cast<std::uint64_t>(record.partition());
  return mixed(mixed(place) ^ static_cast<std::uint64_t>(record.offset()));
}

template <std::size_t size>
void put(std::array<std::uint8_t, size>& id, std::size_t at, std::uint64_t number) {
  for (std::size_t i = 0; i < 8; ++i) id[at + i] = static_cast<std::uint8_t>(number >> (56 - 8 * i));
}

constexpr std::size_t longest_span_reason = 2048;

/// Trace ids have at least 63 random bits, so none is zero.
constexpr std::uint64_t not_zero = 1;

}  // namespace

Result<std::unique_ptr<Tracer>> Tracer::make(const config::Config& config) {
  if (const auto server = curl::server_of(config.trace.otlp, "trace.otlp"); !server) return server.error();
  try {
    std::random_device random;
    const auto seed = std::uint64_t{random()} << 32 | random();
    return std::unique_ptr<Tracer>(new Tracer(config, seed));
  } catch (const std::exception& e) {
    return Error{ErrorKind::internal, std::string("trace.otlp: the exporter cannot start: ") + e.what(),
                 "check the limits of open files and tasks of this process"};
  }
}

Tracer::Tracer(const config::Config& config, std::uint64_t seed)
    : sample_(config.trace.sample),
      seed_(seed),
      machine_origin_(std::chrono::steady_clock::now()),
      wall_origin_(duration_cast<nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count()),
      exporter_({config.trace.otlp, config.client("client.id"), config.client("group.id"),
                 config.trace.headers, config.trace.ca}) {}

std::int64_t Tracer::wall(TimePoint at) const {
  return wall_origin_ + duration_cast<nanoseconds>(SteadyClock::on_machine(at) - machine_origin_).count();
}

std::unique_ptr<AttemptTrace> Tracer::begin(const kafka::Record& record) noexcept try {
  const auto parent = trace_of(record);
  const auto number = parent ? 0 : number_of(record, seed_);
  const bool sampled = parent ? parent->sampled : static_cast<double>(number >> 11) * 0x1p-53 < sample_;
  if (!sampled) return nullptr;
  auto trace = std::make_unique<AttemptTrace>();
  if (parent) {
    trace->context.trace_id = parent->trace_id;
    trace->parent = parent->span_id;
  } else {
    put(trace->context.trace_id, 0, mixed(number));
    put(trace->context.trace_id, 8, mixed(number + 1) | not_zero);
  }
  put(trace->context.span_id, 0,
      mixed(seed_ + next_.fetch_add(1, std::memory_order_relaxed)) | not_zero << 63);
  trace->context.sampled = true;
  trace->traceparent = print_traceparent(trace->context);
  return trace;
} catch (...) {
  return nullptr;  // the record is more important than its span
}

void Tracer::end(const AttemptTrace& trace, const End& end) noexcept try {
  Span span;
  span.trace_id = trace.context.trace_id;
  span.span_id = trace.context.span_id;
  span.parent_id = trace.parent;
  span.topic = end.topic;
  span.partition = end.partition;
  span.offset = end.offset;
  span.attempt = end.attempt;
  span.start = wall(end.start);
  span.end = wall(end.end);
  span.outcome = end.outcome;
  span.reason = end.reason.substr(0, longest_span_reason);
  exporter_.add(std::move(span));
} catch (...) {
}

}  // namespace laneway::tracing
