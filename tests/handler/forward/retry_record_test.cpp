#include "handler/forward/retry_record.h"

#include "catch.h"
#include "delivery/dead_letter/retry_headers.h"
#include "handler/forward/header_lists.h"

using namespace laneway;
using delivery::RetryOrigin;

namespace {

delivery::RetrySteps some_steps() {
  delivery::RetrySteps steps;
  steps.add("orders", {{"orders-retry-5s", seconds(5)}, {"orders-retry-1m", seconds(60)}});
  steps.add("bills", {{"bills-retry-5s", seconds(5)}});
  return steps;
}

/// As it comes from orders-retry-1m, restored.
handler::Item restored(const delivery::Headers& headers) {
  static const auto steps = some_steps();
  kafka::RecordData data;
  data.topic = "orders-retry-1m";
  data.partition = 1;
  data.offset = 7;
  data.timestamp = 9000;
  data.timestamp_type = kafka::TimestampType::log_append_time;
  data.key = "key";
  data.value = "value";
  for (const auto& header : headers) data.headers.emplace_back(header.name, header.value);
  handler::Item item;
  item.record = kafka::Record(data);
  handler::restore_origin(item, *steps.find("orders-retry-1m"), steps);
  return item;
}

RetryOrigin origin(const std::string& topic) {
  return {topic, 3, 42, 1700, delivery::TimestampType::create_time, 6, 1800, "HTTP 500"};
}

}  // namespace

TEST_CASE("a record of a retry topic gets its original place, and its attempts count on") {
  const auto item = restored(delivery::retry_headers({{"trace", "1"}, {"null", {}}}, origin("orders")));
  CHECK(item.record.topic() == "orders");
  CHECK(item.record.partition() == 3);
  CHECK(item.record.offset() == 42);
  CHECK(item.record.timestamp() == 1700);
  CHECK(item.record.timestamp_type() == kafka::TimestampType::create_time);
  CHECK(item.record.raw_key() == "key");
  CHECK(item.record.raw_value() == "value");
  const auto headers = handler::headers_of(item.record);
  CHECK(headers == delivery::Headers{{"trace", "1"}, {"null", {}}});  // ours are not passed on
  CHECK(item.attempt == 7);
  CHECK(item.suspect);
  CHECK(item.offset() == 7);  // where it was read
  CHECK(item.failures->first_ms == 1800);
  CHECK(item.failures->retry_step->source == "orders");
  CHECK(item.route() == handler::Route::work);
}

TEST_CASE("a parked record without a counted attempt is not a suspect") {
  auto parked = origin("orders");
  parked.attempts = 0;
  const auto item = restored(delivery::retry_headers({}, parked));
  CHECK(item.attempt == 1);
  CHECK_FALSE(item.suspect);
  CHECK(item.failures->waiting_since_ms == 0);
}

TEST_CASE("the attempts at a parked record count on where it was parked") {
  auto parked = origin("orders");
  parked.waiting_since = 1500;
  for (const std::string at : {"orders", "orders-retry-5s", "bills", "nowhere", ""}) {
    parked.step = at;
    const auto item = restored(delivery::retry_headers({}, parked));
    const bool known = at.starts_with("orders");
    CHECK(item.failures->retry_step->topic == (known ? at : "orders-retry-1m"));
    CHECK(item.failures->waiting_since_ms == 1500);
    CHECK(item.attempt == 7);
    CHECK(handler::headers_of(item.record).empty());
  }
}

TEST_CASE("a foreign record in a retry topic keeps its own place and begins with attempt 1") {
  const auto valid = delivery::retry_headers({{"trace", "1"}}, origin("orders"));
  auto torn = valid;
  torn.push_back({"laneway-retry-offset", "x"});
  for (const auto& headers :
       {delivery::Headers{{"trace", "1"}}, torn, delivery::retry_headers({{"trace", "1"}}, origin("bills")),
        delivery::retry_headers({{"trace", "1"}}, origin("elsewhere"))}) {
    const auto item = restored(headers);
    CHECK(item.record.topic() == "orders-retry-1m");
    CHECK(item.record.partition() == 1);
    CHECK(item.record.offset() == 7);
    CHECK(item.record.timestamp() == 9000);
    CHECK(item.attempt == 1);
    CHECK_FALSE(item.suspect);
    CHECK(item.offset() == 7);
    CHECK(item.failures->retry_step->source == "orders");
    CHECK(handler::headers_of(item.record) == delivery::Headers{{"trace", "1"}});
  }
}

TEST_CASE("a foreign record of the previous retry topic keeps its place there") {
  const auto item = restored(delivery::retry_headers({}, origin("orders-retry-5s")));
  CHECK(item.record.topic() == "orders-retry-5s");
  CHECK(item.record.offset() == 42);
  CHECK(item.attempt == 7);
}
