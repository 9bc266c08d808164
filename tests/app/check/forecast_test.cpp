#include "app/check/forecast.h"

#include "catch.h"
#include "kafka/client/client_support.h"
#include "service/process/process_limits.h"

using namespace laneway;

namespace {

config::Config some_config() {
  config::Config config;
  config.kafka["bootstrap.servers"] = {"a:9092,b:9092,c:9092", "", false};
  return config;
}

bool says(const std::string& text, const std::string& words) { return text.find(words) != std::string::npos; }

}  // namespace

TEST_CASE("the forecast marks assumed figures") {
  const auto config = some_config();
  CHECK(says(app::forecast(config, {}), "with 16 partitions on 1 broker (assumed"));
  const auto known = app::forecast(config, {.partitions = 1, .brokers = 3, .known = true});
  CHECK(says(known, "with 1 partition on 3 brokers:"));
  CHECK_FALSE(says(known, "assumed"));
}

TEST_CASE("the forecast names the client, and the memory that compressed topics need with this client") {
  const auto client = "librdkafka " + kafka::library_version();
  CHECK(says(app::forecast(some_config(), {}), "compressed topics: " + client));
  const kafka::FetchLimits fetch{.fetch_partition_bytes = 512 << 10};
  CHECK(says(app::memory_of_compressed(fetch, true),
             client + " (bundled) decompresses no more than that, and one batch of each partition"));
  CHECK(says(app::memory_of_compressed(fetch, false),
             client + " (system) decompresses all that it fetched: each partition can take 512KiB times"));
}

TEST_CASE("workers are counted for every partition") {
  auto config = some_config();
  config.unnamed.workers = 5;
  CHECK(says(app::forecast(config, {.partitions = 7}), "35 workers"));
}

TEST_CASE("threads grow with members and brokers, and an admin server that is off needs no threads") {
  auto config = some_config();
  config.unnamed.workers = 1;
  // A member: loop, helper, client, coordinator, 3 named brokers and 2 real ones; then 1 worker, 4 and 9 of
  // the process.
  CHECK(says(app::forecast(config, {.partitions = 1, .brokers = 2}), "at most about 23,"));
  config.consumers = 2;
  CHECK(says(app::forecast(config, {.partitions = 1, .brokers = 2}), "at most about 32,"));
  config.admin.enabled = false;
  CHECK(says(app::forecast(config, {.partitions = 1, .brokers = 2}), "at most about 23,"));
}

TEST_CASE("a handler without workers has no worker threads, and producers and spans have their own") {
  auto config = some_config();
  config::HttpSettings http;
  http.batch.records = 50;  // one thread sends, however many cores there are
  config.handler = http;
  // As above, with one that sends in the place of the worker.
  CHECK(says(app::forecast(config, {.partitions = 9, .brokers = 2}), "at most about 23, of which 1 sends"));
  http = {};
  http.connections = 1;
  config.handler = http;
  CHECK(says(app::forecast(config, {.partitions = 9, .brokers = 2}), "at most about 23, of which 1 sends"));
  config.dead_letter.topic = "{topic}-dlt";
  config.trace.otlp = "http://127.0.0.1:4318/v1/traces";
  CHECK(says(app::forecast(config, {.partitions = 9, .brokers = 2}), "at most about 30, of which 1 sends"));
}

TEST_CASE("the forecast prints the path of a failing record, with its retry topics") {
  auto config = some_config();
  config.dead_letter.topic = "{topic}-dlt";
  CHECK_FALSE(says(app::forecast(config, {}), "retry"));
  config.retry.topics = {{"5s", seconds(5)}, {"1m", seconds(60)}};
  CHECK(says(app::forecast(config, {}),
             "then one attempt in each retry topic ({topic}-retry-5s, {topic}-retry-1m) after its delay; "
             "then the record goes to "
             "{topic}-dlt"));
}

TEST_CASE("the forecast prints when an outage is recognised, or that no outage is") {
  auto config = some_config();
  config.unnamed.breaker = {.failures = 5, .window = seconds(30), .probe = seconds(2)};
  CHECK(says(
      app::forecast(config, {}),
      "outages: when 5 different records fail in a row, or half of the records in 30s, all lanes are held, "
      "no attempt counts, and every 2s one record probes the downstream\n"));
  config.unnamed.breaker.failures = 0;
  CHECK(says(app::forecast(config, {}), "outages: not recognised (breaker.failures: 0)"));
}

TEST_CASE("members without a partition are reported") {
  auto config = some_config();
  config.consumers = 3;
  CHECK(says(app::forecast(config, {.partitions = 2}), "1 of 3 would have no partition"));
  CHECK_FALSE(says(app::forecast(config, {.partitions = 3}), "would have no partition"));
}

TEST_CASE("the longest duration of the stop is printed, so that a supervisor can wait for the end") {
  auto config = some_config();
  config.lanes.drain = seconds(90);
  CHECK(says(app::forecast(config, {}), "ends within 95s after a SIGTERM"));
}

TEST_CASE("every broker of bootstrap.servers is counted") {
  CHECK(service::named_brokers(some_config()) == 3);
}
