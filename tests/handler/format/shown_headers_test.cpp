#include "handler/format/shown_headers.h"

#include <string>

#include "catch.h"

using namespace laneway;
using handler::shown_headers;

namespace {

kafka::Record traced_record(const std::string& traceparent) {
  kafka::RecordData data;
  data.topic = "orders";
  data.headers = {{"tenant", "a"}};
  if (!traceparent.empty()) data.headers.emplace_back("traceparent", traceparent);
  return kafka::Record(data);
}

}  // namespace

TEST_CASE("handlers show the span's traceparent, or else the record's own") {
  tracing::AttemptTrace trace;
  trace.traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-b7ad6b7169203331-01";
  for (const auto& before : {"", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}) {
    const auto shown = traced_record(before);
    const auto headers = shown_headers(shown, &trace);
    REQUIRE(headers.size() == 2);
    CHECK(headers[0].name == "tenant");
    CHECK(headers[1].name == "traceparent");
    CHECK(headers[1].value == trace.traceparent);
    CHECK(shown_headers(shown, nullptr).size() == shown.headers().size());
  }
}
