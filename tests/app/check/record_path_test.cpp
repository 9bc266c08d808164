#include "app/check/forecast.h"

#include "app/check/forecast.h"
#include "catch.h"

using namespace laneway;

namespace {

bool shows(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

config::PoolSettings some_pool(const std::string& name, const std::string& then = "") {
  config::PoolSettings pool;
  pool.name = name;
  pool.then = then;
  return pool;
}

/// Two entrances, of which one leads to a chain.
config::Config pooled_config() {
  config::Config config;
  config.kafka["bootstrap.servers"] = {"a:9092", "", false};
  config.route.by = {config::Selector::Kind::header, "tenant"};
  config.route.rows = {{"gold", false, "critical"}, {"free-", true, "load"}};
  config.route.otherwise = "load";
  config.pools = {some_pool("critical"), some_pool("load", "resize"), some_pool("resize", "store"),
                  some_pool("store")};
  config.pools[3].gather = true;
  return config;
}

}  // namespace

TEST_CASE("the path of a record is drawn from its topic to its end") {
  CHECK(app::record_path(config::Config()).empty());
  const auto text = app::record_path(pooled_config());
  CHECK(shows(text,
              "path of a record, by header:tenant:\n"
              "  gold                       → critical → finished\n"
              "  free-*, every other record → load → resize → store (gathers) → finished\n"
              "pools of each partition:\n"
              "  critical  log, at most 8 running records and 256 queued\n"
              "  load      log, at most 8 running records and 256 queued\n"));
}

TEST_CASE("without a route, every record goes to the first pool") {
  auto config = pooled_config();
  config.route = {};
  config.pools.erase(config.pools.begin());
  CHECK(shows(app::record_path(config),
              "path of a record:\n  every record → load → resize → store (gathers) → finished\n"));
  CHECK_FALSE(shows(app::bound_of_lanes(config, "1MiB"), "pass"));
}

TEST_CASE("the bounds of a pool are printed") {
  auto config = pooled_config();
  auto& pool = config.pools.front();
  pool.handler = config::HttpSettings{};
  pool.workers = 1;
  pool.total = 9;
  pool.retry_workers = 4;
  pool.rate.records = 50;
  pool.each = {{config::Selector::Kind::key, ""}, {10, 1 << 20, seconds(1)}, 3, {}};
  pool.helps = {"load", "store"};
  CHECK(shows(app::record_path(config),
              "  critical  http, at most 1 running record (9 in the process) and 256 queued, and 4 that run "
              "again; at most 50 records/s in the process; for each key at most 3 running records in the "
              "process and 10 records/s and 1MiB/s; idle workers run records of load, then store; for a "
              "twentieth of the time first own ones that have waited 5s\n"));
  pool = some_pool("critical");
  pool.workers = 64;
  pool.adaptive = {config::AdaptiveAlgorithm::aimd, 2};
  CHECK(shows(
      app::record_path(config),
      "  critical  log, 2 to 64 running records in the process, as many as the downstream can take, and "
      "256 queued\n"));
}

TEST_CASE("the bound on how far records run ahead is stated, with the lane's share of the memory") {
  auto config = pooled_config();
  config.lanes.max_incomplete = 700;
  CHECK(shows(app::forecast(config, {.partitions = 16}),
              "  each partition: at most 700 records from the oldest unfinished one to the newest "
              "(lanes.max_incomplete), and 4MiB of records in flight (its share of lanes.memory); within "
              "these bounds records pass those whose pool is full, slow or out; then the lane is held; after "
              "1s the lane is paused, and fetching stops\n"));
}

TEST_CASE("pools with equal breakers are named together, and other pools apart") {
  auto config = pooled_config();
  config.pools[1].breaker.failures = 0;
  const auto text = app::forecast(config, {});
  CHECK(shows(text,
              "  outages of critical, resize, store: when 5 different records fail in a row, or half of the "
              "records in 30s, records wait for the pool, no attempt counts"));
  CHECK(shows(text, "  outages of load: not recognised"));
}

TEST_CASE("the programs, requests and workers of all pools are counted") {
  auto config = pooled_config();
  config.pools[0].retry_workers = 2;
  CHECK(shows(app::forecast(config, {.partitions = 3}), "102 workers (34 for each partition;"));
  config::HttpSettings http;
  http.connections = 7;
  http.batch.records = 10;
  config.pools[1].handler = http;
  config.pools[1].workers = 5;
  config.pools[2].handler = config::ExecSettings{.command = {"/bin/cat"}};
  const auto text = app::forecast(config, {});
  CHECK(shows(text, "  handler of resize: exec starts /bin/cat\n"));
  CHECK(shows(text,
              "  requests of load: at most 7 at a time, of up to 10 records each, of which a partition "
              "provides up to 5 (pools.load.workers)\n"));
}
