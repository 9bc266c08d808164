#include "delivery/dead_letter/retry_headers.h"

#include <rapidcheck.h>

#include "catch.h"

using namespace laneway::delivery;

namespace {

RetryOrigin some_origin() { return {"orders", 3, 42, 1700, TimestampType::create_time, 5, 1800, ""}; }

Headers with(Headers headers, const std::string& name, std::optional<std::string> value) {
  headers.push_back({name, std::move(value)});
  return headers;
}

std::string retry_value(const Headers& headers, const std::string& name) {
  std::string value = "(none)";
  for (const auto& header : headers)
    if (header.name == name) value = header.value.value_or("(null)");
  return value;
}

}  // namespace

TEST_CASE("headers written for a retry topic are read back") {
  auto origin = some_origin();
  origin.reason = "HTTP 500";
  const auto headers = retry_headers({{"trace", "1"}, {"empty", std::nullopt}}, origin);
  CHECK(headers[0] == Header{"trace", "1"});
  CHECK(headers[1] == Header{"empty", std::nullopt});
  CHECK(retry_value(headers, "laneway-retry-topic") == "orders");
  CHECK(retry_value(headers, "laneway-retry-partition") == "3");
  CHECK(retry_value(headers, "laneway-retry-offset") == "42");
  CHECK(retry_value(headers, "laneway-retry-attempts") == "5");
  CHECK(retry_value(headers, "laneway-retry-timestamp-type") == "CreateTime");
  CHECK(retry_value(headers, "laneway-retry-reason") == "HTTP 500");
  CHECK(read_retry_origin(headers) == some_origin());
}

TEST_CASE("a record without a timestamp has no timestamp after the retry topic") {
  auto origin = some_origin();
  origin.timestamp = -1;
  origin.timestamp_type = TimestampType::none;
  CHECK(read_retry_origin(retry_headers({}, origin)) == origin);
}

TEST_CASE("existing headers of this family are replaced, and others stay") {
  const Headers forged = {{"laneway-retry-attempts", "0"},
                          {"laneway-retry-topic", "elsewhere"},
                          {"laneway-retry-other", "x"},
                          {"laneway-redrives", "1"},
                          {"kafka_dlt-original-topic", "orders"}};
  const auto headers = retry_headers(forged, some_origin());
  CHECK(read_retry_origin(headers) == some_origin());
  CHECK(retry_value(headers, "laneway-retry-other") == "(none)");
  CHECK(retry_value(headers, "laneway-redrives") == "1");
  CHECK(retry_value(headers, "kafka_dlt-original-topic") == "orders");
  CHECK(retry_headers(headers, some_origin()) == headers);  // none is added twice
}

TEST_CASE("a record with a missing or invalid origin has no origin") {
  const auto good = retry_headers({}, some_origin());
  CHECK_FALSE(read_retry_origin({}));
  for (const char* topic : {"", "..", "a b", "../x"})
    CHECK_FALSE(read_retry_origin(with(good, "laneway-retry-topic", topic)));
  for (const char* number : {"", "-1", "x", "1.5", " 1", "99999999999999999999"}) {
    CHECK_FALSE(read_retry_origin(with(good, "laneway-retry-partition", number)));
    CHECK_FALSE(read_retry_origin(with(good, "laneway-retry-offset", number)));
  }
  CHECK_FALSE(read_retry_origin(with(good, "laneway-retry-partition", "2147483648")));
}

TEST_CASE("other invalid headers are ignored, and a large count of attempts is cut") {
  const auto good = retry_headers({}, some_origin());
  CHECK(read_retry_origin(with(good, "laneway-retry-attempts", "-3"))->attempts == 0);
  CHECK(read_retry_origin(with(good, "laneway-retry-timestamp", "soon"))->timestamp == -1);
  CHECK(read_retry_origin(with(good, "laneway-retry-first-failure", "-9"))->first_failure == -1);
  CHECK(read_retry_origin(with(good, "laneway-retry-timestamp-type", "x"))->timestamp_type ==
        TimestampType::none);
  CHECK(read_retry_origin(with(good, "laneway-retry-attempts", "4294967295"))->attempts == 1'000'000'000);
}

TEST_CASE("any headers can be read and replaced") {
  REQUIRE(rc::check("", [](const std::vector<std::pair<std::string, std::string>>& strange) {
    const auto names = *rc::gen::container<std::vector<std::string>>(
        strange.size(),
        rc::gen::element<std::string>("topic", "partition", "offset", "attempts", "timestamp", "reason"));
    Headers headers;
    for (std::size_t i = 0; i < strange.size(); ++i)
      headers.push_back({"laneway-retry-" + names[i], strange[i].second});
    (void)read_retry_origin(headers);
    RC_ASSERT(read_retry_origin(retry_headers(headers, some_origin())) == some_origin());
  }));
}
