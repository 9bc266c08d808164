// Sends spans to a collector: OTLP over HTTP with JSON (https://opentelemetry.io/docs/specs/otlp/), many
// spans in one POST, on a thread of its own.
//
// Work never waits for the exporter. Spans wait in a queue of at most 4,096 spans; further spans are dropped
// and counted, and logged at most once a minute. A request has 2 s (SpanTarget::limit); of its answer at
// most 64 KiB are read. Spans that the collector does not accept are counted and not sent again; this is
// logged once until the collector accepts spans again. At the end, the waiting spans are sent, for at most
// the time of one request.
//
// Threads: any.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/time.h"

namespace laneway::tracing {

struct Span {
  std::array<std::uint8_t, 16> trace_id{};
  std::array<std::uint8_t, 8> span_id{};
  std::array<std::uint8_t, 8> parent_id{};  ///< zeros if there is no parent
  std::string topic;
  std::int32_t partition = 0;
  std::int64_t offset = 0;
  std::uint32_t attempt = 1;
  std::int64_t start = 0;  ///< ns since 1970
  std::int64_t end = 0;
  std::string outcome;  ///< as in the journal
  std::string reason;   ///< the reason of a failure; short
};

struct SpanTarget {
  std::string url;
  std::string service;  ///< service.name
  std::string group;
  std::map<std::string, std::string> headers{};  ///< of the requests, by name; secrets
  std::string authorities{};                     ///< PEM; empty for the system's
  Duration limit = seconds(2);                   ///< for one request, and for the last requests together
};

/// The body of a request. Pure.
std::string otlp_json(const SpanTarget& target, const std::vector<Span>& spans);

class SpanExporter {
 public:
  /// Throws std::system_error, std::runtime_error.
  explicit SpanExporter(SpanTarget target);
  /// Sends the waiting spans and joins the thread; see above for how long.
  ~SpanExporter();
  SpanExporter(const SpanExporter&) = delete;
  SpanExporter& operator=(const SpanExporter&) = delete;

  void add(Span span) EXCLUDES(mutex_);

  struct Counts {
    std::uint64_t exported = 0;
    std::uint64_t dropped = 0;  ///< the queue was full
    std::uint64_t failed = 0;   ///< not accepted by the collector
  };
  Counts counts() const;

 private:
  class Request;

  void run() EXCLUDES(mutex_);
  std::vector<Span> next() EXCLUDES(mutex_);
  void send(const std::vector<Span>& spans);
  std::string post(const std::vector<Span>& spans, std::size_t& lost);
  bool tell_dropped();
  Duration time_left() const;

  const SpanTarget target_;
  std::atomic<std::uint64_t> exported_{0};
  std::atomic<std::uint64_t> dropped_{0};
  std::atomic<std::uint64_t> failed_{0};
  std::atomic<std::int64_t> ends_at_{0};  // of the steady clock; 0 while the exporter runs
  std::unique_ptr<Request> request_;      // used by thread_, like the following members
  bool failing_ = false;
  std::uint64_t told_ = 0;  // the part of dropped_ that was logged

  Mutex mutex_;
  Condition changed_;
  std::deque<Span> waiting_ GUARDED_BY(mutex_);
  bool ended_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace laneway::tracing
