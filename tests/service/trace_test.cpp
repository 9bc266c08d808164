// Spans of a service, and the trace context that handlers pass on.
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "handler/servers.h"
#include "service/support.h"
#include "tracing/patient_export.h"

using namespace laneway;
using namespace laneway::service;

namespace {

/// The ids of the spans.
std::multiset<std::string> spans_at(handler::HttpServer& collector) {
  std::multiset<std::string> ids;
  for (const auto& request : collector.requests()) {
    const auto body = nlohmann::json::parse(request.body);
    for (const auto& span : body.at("resourceSpans").at(0).at("scopeSpans").at(0).at("spans"))
      ids.insert(span.at("spanId").get<std::string>());
  }
  return ids;
}

}  // namespace

TEST_CASE("every attempt of a service has a span on request, and otherwise none") {
  const tracing::PatientExport patient;
  for (const bool on : {true, false}) {
    INFO(on);
    handler::HttpServer collector([](const auto&, auto&) {});
    World world(2);
    if (on) world.config.trace = {collector.url(), 1};
    std::atomic<int> passed_on{0};
    const auto service = world.started([&](const handler::Attempt& attempt) {
      if (attempt.trace != nullptr) ++passed_on;
      return attempt.number == 1 && attempt.record.offset() == 3 ? handler::Outcome::retry("once")
                                                                 : handler::Outcome::done();
    });
    world.produce(10);
    CHECK(eventually([&] { return world.history.distinct_done() == world.produced(); }));
    if (on) CHECK(eventually([&] { return metric(*service, "trace_spans_total", "exported") == 22; }));
    stop_cleanly(*service);
    CHECK(spans_at(collector).size() == (on ? 22 : 0));
    CHECK(passed_on == (on ? 22 : 0));
  }
}

TEST_CASE("a collector that never answers delays neither records nor the stop") {
  handler::RawServer silent([](handler::Connection& connection) {
    while (!connection.read_request().empty()) continue;
  });
  World world(2);
  world.config.trace = {silent.url(), 1};
  const auto service = world.started();
  world.produce(6000);  // more than may wait for the collector
  CHECK(eventually([&] { return world.history.distinct_done() == world.produced(); }));
  CHECK(metric(*service, "trace_spans_total", "exported") == 0);
  CHECK(metric(*service, "trace_spans_total", "dropped") > 0);
  stop_cleanly(*service);
}

TEST_CASE("each request of the http handler names the span of its attempt") {
  const tracing::PatientExport patient;
  handler::HttpServer collector([](const auto&, auto&) {});
  handler::HttpServer receiver([](const auto&, auto&) {});
  World world(2);
  world.config.trace = {collector.url(), 1};
  config::HttpSettings http;
  http.url = receiver.url();
  http.timeout = patience;
  world.config.handler = http;
  std::multiset<std::string> passed_on;
  {
    Service service(world.config);
    REQUIRE(service.start());
    world.produce(10);
    CHECK(eventually([&] { return metric(service, "trace_spans_total", "exported") == 20; }));
    stop_cleanly(service);
  }
  for (const auto& request : receiver.requests())
    passed_on.insert(request.get_header_value("traceparent").substr(36, 16));
  CHECK(passed_on.size() == 20);
  CHECK(passed_on == spans_at(collector));
}
