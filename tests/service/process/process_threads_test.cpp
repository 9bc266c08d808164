#include "service/process/process_limits.h"

#include "catch.h"

using namespace laneway;

TEST_CASE("a blocking handler needs worker threads, and any other handler has threads of its own") {
  config::Config config;
  config.kafka["bootstrap.servers"] = {"a:1,b:2", "test"};
  config.unnamed.workers = 8;
  config.handler = config::SimulateSettings{};
  const auto blocking = service::expected_threads(config, 5, 3);
  CHECK(blocking.workers == 40);

  config::HttpSettings http;
  http.connections = 1;
  config.handler = http;
  const auto one = service::expected_threads(config, 5, 3);
  CHECK(one.workers == 0);
  CHECK(one.senders == 1);
  CHECK(one.all == blocking.all - 40 + 1);

  http.connections = 512;
  config.handler = http;
  const auto many = service::expected_threads(config, 5, 3);
  CHECK(many.senders <= 4);
  CHECK(many.all == one.all + many.senders - 1);
  http.batch.records = 50;
  config.handler = http;
  CHECK(service::expected_threads(config, 5, 3).all == one.all);
}

TEST_CASE("workers and senders of all pools are expected, including the pools for retries") {
  config::Config config;
  config.kafka["bootstrap.servers"] = {"a:1,b:2", "test"};
  config.handler = config::SimulateSettings{};
  const auto before = service::expected_threads(config, 5, 3);
  config::PoolSettings blocking;
  blocking.workers = 3;
  blocking.retry_workers = 2;
  config::PoolSettings sending;
  config::HttpSettings http;
  http.connections = 1;
  sending.handler = http;
  config::PoolSettings writing;
  writing.handler = config::ProduceSettings{};
  config.pools = {blocking, sending};
  const auto pools = service::expected_threads(config, 5, 3);
  CHECK(pools.workers == 25);
  CHECK(pools.senders == 1);
  CHECK(pools.all == before.all - 40 + 25 + 1);
  config.pools.push_back(writing);
  CHECK(service::expected_threads(config, 5, 3).clients > pools.clients);
}
