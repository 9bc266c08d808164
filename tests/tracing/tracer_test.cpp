#include "tracing/tracer.h"

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "captured_log.h"
#include "catch.h"
#include "eventually.h"
#include "handler/servers.h"
#include "tracing/patient_export.h"
#include "tracing/record_trace.h"

using namespace laneway;
using namespace laneway::tracing;
using handler::Connection;
using handler::HttpServer;
using handler::RawServer;
using Json = nlohmann::json;

namespace {

const std::string trace_id = "4bf92f3577b34da6a3ce929d0e0e4736";
const std::string parent_id = "00f067aa0ba902b7";

kafka::Record record(std::int64_t offset, const std::string& traceparent = "") {
  kafka::RecordData data;
  data.topic = "orders";
  data.partition = 3;
  data.offset = offset;
  data.headers = {{"tenant", "a"}};
  if (!traceparent.empty()) data.headers.emplace_back("traceparent", traceparent);
  return kafka::Record(data);
}

std::string traceparent(const std::string& flags) { return "00-" + trace_id + "-" + parent_id + "-" + flags; }

std::unique_ptr<Tracer> tracer(const std::string& url, double sample) {
  config::Config config;
  config.kafka["client.id"] = {"laneway-orders", "", false};
  config.kafka["group.id"] = {"billing", "", false};
  config.trace = {url, sample};
  auto made = Tracer::make(config);
  REQUIRE(made);
  return std::move(made).value();
}

/// Ends an attempt that took from 1 to 3 ms after `from`.
void end(Tracer& tracer, const AttemptTrace& trace, std::int64_t offset, TimePoint from,
         const char* outcome = "success", const std::string& reason = "") {
  const std::string topic = "orders";
  tracer.end(trace, {topic, 3, offset, 2, from + milliseconds(1), from + milliseconds(3), outcome, reason});
}

/// The spans that a collector was sent.
std::vector<Json> spans_in(HttpServer& server) {
  std::vector<Json> spans;
  for (const auto& request : server.requests()) {
    CHECK(request.get_header_value("Content-Type") == "application/json");
    const auto body = Json::parse(request.body);
    for (const auto& resource : body.at("resourceSpans"))
      for (const auto& scope : resource.at("scopeSpans"))
        for (const auto& span : scope.at("spans")) spans.push_back(span);
  }
  return spans;
}

std::map<std::string, std::string> attributes_of(const Json& holder) {
  std::map<std::string, std::string> attributes;
  for (const auto& attribute : holder.at("attributes"))
    attributes[attribute.at("key")] = attribute.at("value").begin().value().get<std::string>();
  return attributes;
}

bool is_hexadecimal(const std::string& id, std::size_t length) {
  return id.size() == length && id.find_first_not_of("0123456789abcdef") == id.npos;
}

}  // namespace

TEST_CASE("a span reaches the collector in OTLP's JSON") {
  const PatientExport patient;
  HttpServer collector([](const auto&, auto& response) { response.set_content("{}", "application/json"); });
  const auto before = std::chrono::system_clock::now();
  {
    const auto spans = tracer(collector.url(), 0);
    const auto trace = spans->begin(record(42, traceparent("01")));
    REQUIRE(trace);
    CHECK(trace->traceparent.starts_with("00-" + trace_id + "-"));
    CHECK(trace->traceparent != traceparent("01"));
    end(*spans, *trace, 42, SteadyClock::now(), "rejected_record", "HTTP 400 \xff");
  }
  REQUIRE(collector.requests().size() == 1);
  const auto body = Json::parse(collector.requests().front().body);
  CHECK(attributes_of(body.at("resourceSpans").at(0).at("resource")).at("service.name") == "laneway-orders");
  const auto spans = spans_in(collector);
  REQUIRE(spans.size() == 1);
  const Json& span = spans.front();
  CHECK(span.at("traceId") == trace_id);
  CHECK(is_hexadecimal(span.at("spanId"), 16));
  CHECK(span.at("parentSpanId") == parent_id);
  CHECK(span.at("name") == "pool.process");
  CHECK(span.at("kind") == 5);
  const auto start = std::stoll(span.at("startTimeUnixNano").get<std::string>());
  CHECK(start >= duration_cast<nanoseconds>(before.time_since_epoch()).count());
  CHECK(std::stoll(span.at("endTimeUnixNano").get<std::string>()) - start == 2000000);
  CHECK(attributes_of(span) ==
        std::map<std::string, std::string>{{"messaging.system", "kafka"},
                                           {"messaging.operation.name", "process"},
                                           {"messaging.operation.type", "process"},
                                           {"messaging.destination.name", "orders"},
                                           {"messaging.destination.partition.id", "3"},
                                           {"messaging.kafka.offset", "42"},
                                           {"messaging.consumer.group.name", "billing"},
                                           {"laneway.attempt", "2"},
                                           {"laneway.outcome", "rejected_record"},
                                           {"error.type", "rejected_record"}});
  CHECK(span.at("status").at("code") == 2);
  CHECK(span.at("status").at("message") == "HTTP 400 \uFFFD");
}

TEST_CASE("the header decides whether a record is sampled, or else a fraction") {
  HttpServer collector([](const auto&, auto&) {});
  const auto none = tracer(collector.url(), 0);
  const auto all = tracer(collector.url(), 1);
  CHECK(none->begin(record(1, traceparent("01"))));
  CHECK_FALSE(all->begin(record(1, traceparent("00"))));
  CHECK_FALSE(none->begin(record(1)));
  CHECK_FALSE(none->begin(record(1, "00-nonsense")));
  CHECK(all->begin(record(1, "00-nonsense")));
  const auto some = tracer(collector.url(), 0.1);
  int sampled = 0;
  for (int offset = 0; offset < 10000; ++offset) sampled += some->begin(record(offset)) != nullptr;
  CHECK(sampled > 500);
  CHECK(sampled < 2000);
}

TEST_CASE("all attempts of a record are in one trace, each with its own span") {
  HttpServer collector([](const auto&, auto&) {});
  const auto all = tracer(collector.url(), 1);
  std::set<std::array<std::uint8_t, 16>> traces;
  std::set<std::array<std::uint8_t, 8>> spans;
  for (int offset = 0; offset < 100; ++offset)
    for (int attempt = 0; attempt < 3; ++attempt) {
      const auto trace = all->begin(record(offset));
      REQUIRE(trace);
      CHECK(trace->parent == std::array<std::uint8_t, 8>{});
      CHECK(tracing::parse_traceparent(trace->traceparent) == trace->context);
      traces.insert(trace->context.trace_id);
      spans.insert(trace->context.span_id);
    }
  CHECK(traces.size() == 100);
  CHECK(spans.size() == 300);
}

TEST_CASE("a refusing or missing collector does no harm, and lost spans are counted and logged once") {
  const PatientExport patient;
  CapturedLog log;
  std::atomic<int> status{503};
  HttpServer collector([&](const auto&, auto& response) { response.status = status; });
  const auto spans = tracer(collector.url(), 1);
  const auto one = [&] { end(*spans, *spans->begin(record(1)), 1, SteadyClock::now()); };
  one();
  CHECK(eventually([&] { return spans->counts().failed == 1; }));
  status = 400;
  one();
  CHECK(eventually([&] { return spans->counts().failed == 2; }));
  status = 200;
  one();
  CHECK(eventually([&] { return spans->counts().exported == 1; }));
  CHECK(eventually([&] { return log.lines({"spans accepted again"}) == 1; }));
  CHECK(log.lines({"spans not accepted", "HTTP 503"}) == 1);
  CHECK(log.lines({"spans not accepted"}) == 1);
  const auto nowhere = tracer("http://worker:canary@127.0.0.1:1/v1/traces?token=canary", 1);
  end(*nowhere, *nowhere->begin(record(1)), 1, SteadyClock::now());
  CHECK(eventually([&] { return nowhere->counts().failed == 1; }));
  CHECK(nowhere->counts().exported == 0);
  CHECK(eventually([&] { return log.lines({"spans not accepted", "collector=127.0.0.1:1"}) == 1; }));
  CHECK(log.lines({"canary"}) == 0);
}

TEST_CASE("with a collector that never answers spans are dropped, and neither work nor the end is delayed") {
  CapturedLog log;
  RawServer silent([](Connection& connection) {
    while (!connection.read_request().empty()) continue;
  });
  std::uint64_t dropped = 0;
  int requests = 0;  // each on a connection of its own, as none is answered
  {
    const auto spans = tracer(silent.url(), 1);
    const auto trace = spans->begin(record(1));
    for (int i = 0; i < 6000; ++i) end(*spans, *trace, i, SteadyClock::now());
    dropped = spans->counts().dropped;
    CHECK(dropped > 0);
    CHECK(spans->counts().exported == 0);
    requests = silent.connections();
  }
  CHECK(silent.connections() <= requests + 2);  // 8 would be needed
  CHECK(log.lines({"spans dropped", "count=" + std::to_string(dropped)}) == 1);
}

TEST_CASE("spans that a collector rejects in an accepted request are counted as failed") {
  const PatientExport patient;
  const std::vector<std::pair<std::string, std::uint64_t>> answers{
      {R"({"partialSuccess":{"rejectedSpans":"1","errorMessage":"too old"}})", 1},
      {R"({"partialSuccess":{"rejectedSpans":7}})", 1},
      {R"({"partialSuccess":{}})", 0},
      {std::string(1 << 20, '['), 0},
      {"OK", 0}};
  for (const auto& [answer, failed] : answers) {
    INFO(answer.substr(0, 100));
    HttpServer collector(
        [&text = answer](const auto&, auto& response) { response.set_content(text, "application/json"); });
    const auto spans = tracer(collector.url(), 1);
    end(*spans, *spans->begin(record(1)), 1, SteadyClock::now());
    CHECK(eventually([&] { return spans->counts().failed + spans->counts().exported == 1; }));
    CHECK(spans->counts().failed == failed);
  }
}

TEST_CASE("a long reason is cut, so that the waiting spans stay within bounds") {
  const PatientExport patient;
  HttpServer collector([](const auto&, auto&) {});
  {
    const auto spans = tracer(collector.url(), 1);
    end(*spans, *spans->begin(record(1)), 1, SteadyClock::now(), "retry", std::string(1 << 20, 'x'));
  }
  const auto spans = spans_in(collector);
  REQUIRE(spans.size() == 1);
  CHECK(spans[0].at("status").at("message") == std::string(2048, 'x'));
}

TEST_CASE("the spans that wait at the end are sent") {
  const PatientExport patient;
  HttpServer collector([](const auto&, auto&) {});
  {
    const auto spans = tracer(collector.url(), 1);
    for (int i = 0; i < 100; ++i) end(*spans, *spans->begin(record(i)), i, SteadyClock::now());
  }
  CHECK(spans_in(collector).size() == 100);
}

TEST_CASE("an invalid address of a collector is refused") {
  config::Config config;
  config.trace.otlp = "http://";
  const auto made = Tracer::make(config);
  REQUIRE_FALSE(made);
  CHECK(made.error().message.starts_with("trace.otlp: "));
}

TEST_CASE("the requests to a collector have the configured headers") {
  const PatientExport patient;
  HttpServer collector([](const auto&, auto& response) { response.set_content("{}", "application/json"); });
  SpanExporter({.url = collector.url(),
                .service = "s",
                .group = "g",
                .headers = {{"authorization", "Bearer abc"}, {"x-tenant", "a, b"}}})
      .add({});
  REQUIRE(collector.requests().size() == 1);
  const auto request = collector.requests().front();
  CHECK(request.get_header_value("Authorization") == "Bearer abc");
  CHECK(request.get_header_value("x-tenant") == "a, b");
  CHECK(request.get_header_value("Content-Type") == "application/json");
}

TEST_CASE("an endless answer of a collector is not read to its end") {
  const PatientExport patient;
  HttpServer collector([](const auto&, auto& response) {
    response.set_chunked_content_provider("application/json", [](std::size_t, httplib::DataSink& sink) {
      const std::string blanks(16 * 1024, ' ');
      return sink.write(blanks.data(), blanks.size());
    });
  });
  SpanExporter exporter({.url = collector.url(), .service = "s", .group = "g"});
  exporter.add({});
  CHECK(eventually([&] { return exporter.counts().exported == 1; }));
  CHECK(exporter.counts().failed == 0);
}
