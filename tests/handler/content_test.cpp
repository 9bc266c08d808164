#include "handler/content.h"

#include <string>

#include "catch.h"
#include "config/pools/selector.h"

using namespace laneway;
using handler::Content;

namespace {

using Text = std::optional<std::string>;

kafka::Record record_of(Text value, kafka::RecordData data = {}) {
  data.topic = "orders";
  data.value = std::move(value);
  return kafka::Record(data);
}

Text text_at(const Text& value, const std::string& pointer) {
  const auto record = record_of(value);
  return Content(record).text_at(pointer);
}

Text selected(const char* selector, const kafka::Record& record, std::string_view part = {}) {
  const auto parsed = config::parse_selector(selector, true);
  REQUIRE(parsed.ok());
  return Content(record).selected(*parsed, part);
}

}  // namespace

TEST_CASE("a content has the place, key, value and headers of its record, with null distinct from empty") {
  kafka::RecordData data;
  data.partition = 3;
  data.offset = 42;
  data.timestamp = 7;
  data.key = "";
  data.headers = {{"tenant", "a"}, {"trace", std::nullopt}};
  const auto record = record_of(std::nullopt, data);
  const Content content(record);
  CHECK(content.topic() == "orders");
  CHECK(content.partition() == 3);
  CHECK(content.offset() == 42);
  CHECK(content.timestamp() == 7);
  CHECK(content.key() == std::optional<std::string_view>(""));
  CHECK(content.value() == std::nullopt);
  const auto headers = content.headers();
  REQUIRE(headers.size() == 2);
  CHECK(headers[0].name == "tenant");
  CHECK(headers[0].value == "a");
  CHECK(headers[1].value == std::nullopt);
  CHECK(&content.unread() == &record);
}

TEST_CASE("handlers show the span's traceparent, or else the record's own") {
  tracing::AttemptTrace trace;
  trace.traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-b7ad6b7169203331-01";
  for (const std::string before : {"", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}) {
    kafka::RecordData data;
    data.headers = {{"tenant", "a"}};
    if (!before.empty()) data.headers.emplace_back("traceparent", before);
    const auto record = record_of("v", data);
    const Content content(record);
    const auto headers = content.headers(&trace);
    REQUIRE(headers.size() == 2);
    CHECK(headers[0].name == "tenant");
    CHECK(headers[1].name == "traceparent");
    CHECK(headers[1].value == trace.traceparent);
    CHECK(content.headers().size() == data.headers.size());
  }
}

TEST_CASE("a selector picks its text, and none if the record has no such text") {
  kafka::RecordData data;
  data.key = "c17";
  data.headers = {{"kind", "first"}, {"kind", "last"}, {"null", "text"}, {"null", std::nullopt}};
  const auto record = record_of(R"({"type": "paid", "count": 18446744073709551615, "part": 1.5})", data);
  CHECK(selected("topic", record) == "orders");
  CHECK(selected("key", record) == "c17");
  CHECK(selected("header:kind", record) == "last");
  CHECK(selected("header:null", record) == std::nullopt);
  CHECK(selected("header:Kind", record) == std::nullopt);
  CHECK(selected("value:/type", record) == "paid");
  CHECK(selected("value:/count", record) == "18446744073709551615");
  CHECK(selected("value:/part", record) == std::nullopt);
  CHECK(selected("part", record, "small") == "small");
  CHECK(selected("part", record) == std::nullopt);
  const auto empty = record_of(std::nullopt);
  CHECK(selected("key", empty) == std::nullopt);
  CHECK(selected("value:/type", empty) == std::nullopt);
  CHECK(Content(record).selected(config::Selector{}, {}) == std::nullopt);
}

TEST_CASE("a record that comes back names the sub-job that it comes back for") {
  kafka::RecordData data;
  data.headers = {{"laneway-part", "large"}, {"laneway-part", "small"}};
  const auto back = record_of("v", data);
  CHECK(Content(back).wanted_sub_job() == "small");
  const auto whole = record_of("v");
  CHECK(Content(whole).wanted_sub_job().empty());
}

TEST_CASE("the pointer finds a text") {
  const std::string order = R"({"type": "paid", "of": {"kinds": ["a", "b/c"], "x/y": "slash", "": "empty"}})";
  CHECK(text_at(order, "/type") == "paid");
  CHECK(text_at(order, "/of/kinds/1") == "b/c");
  CHECK(text_at(order, "/of/x~1y") == "slash");
  CHECK(text_at(order, "/of/") == "empty");
  CHECK(text_at(R"({"type": "caf\u00e9"})", "/type") == "caf\u00e9");
}

TEST_CASE("the pointer finds nothing if there is no text") {
  for (const char* document : {"", "paid", "{", R"({"type": 1})", R"({"type": null})", R"({"type": ["a"]})",
                               R"([{"type": "a"}])", R"({"Type": "a"})", "\"type\"", "\xff\xfe", "[1, 2]"})
    CHECK(text_at(document, "/type") == std::nullopt);
  for (const char* pointer : {"/0/type/x", "/-", "/00", "/99999999999999999999", "/1"})
    CHECK(text_at(R"([{"type": "a"}])", pointer) == std::nullopt);
  CHECK(text_at(std::nullopt, "/type") == std::nullopt);
  CHECK(text_at(std::string(1'000'000, '['), "/type") == std::nullopt);
  const std::string deep = std::string(1'000'000, '[') + std::string(1'000'000, ']');
  CHECK(text_at("{\"of\":" + deep + ",\"type\":\"paid\"}", "/type") == std::nullopt);
  CHECK(text_at(std::string(100'000, '[') + std::string(100'000, ']'), "/0") == std::nullopt);
}
