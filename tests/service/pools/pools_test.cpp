// A service with named pools: what its status and its metrics say of them.
#include <algorithm>
#include <set>

#include "captured_log.h"
#include "config/pools/parking.h"
#include "service/support.h"
#include "telemetry/metric_table.h"

using namespace laneway;
using namespace laneway::service;
using handler::Outcome;

namespace {

/// The embedded cluster does not let clients create topics, so no record is parked.
void park_nothing(config::Config& config) { config.lanes.park_after = Duration::zero(); }

/// Records go from `first` to `last`, which has one worker and limits for each text of the key.
void add_two_pools(config::Config& config) {
  park_nothing(config);
  config::PoolSettings first;
  first.name = "first";
  first.then = "last";
  first.workers = 2;
  config::PoolSettings last;
  last.name = "last";
  last.workers = 1;
  last.queue = 2;
  last.retry_workers = 1;
  last.helps = {"first"};
  last.each.by = {config::Selector::Kind::key, ""};
  last.each.workers = 1;
  config.pools = {first, last};
}

/// The records of a partition go to these in turn.
void add_east_and_west(config::Config& config) {
  park_nothing(config);
  config.route.by.kind = config::Selector::Kind::round_robin;
  for (const auto* name : {"east", "west"}) {
    config::PoolSettings pool;
    pool.name = name;
    pool.breaker.failures = 2;
    pool.breaker.probe = milliseconds(50);
    config.pools.push_back(pool);
    config.route.rows.push_back({.text = "", .pool = name});
  }
}

/// The value of the label `pool`; the rest of the labels' names, as in the table.
std::string labels_of(const telemetry::Sample& sample) {
  std::string names;
  for (const auto& [name, value] : sample.labels) names += (names.empty() ? "" : ",") + name;
  return names;
}

/// What the lanes wait for in their pools.
std::vector<std::string> texts_of_pools_out(const Service& service) {
  const auto status = service.status();
  std::vector<std::string> texts;
  for (const auto& lane : status.lanes)
    for (auto& out : pools_out(lane.view, status.pools)) texts.push_back(std::move(out.text));
  return texts;
}

PoolStatus pool_of(const Service& service, const std::string& name) {
  for (auto& pool : service.status().pools)
    if (pool.name == name) return pool;
  FAIL("no pool is called " << name);
  return {};
}

}  // namespace

TEST_CASE("a service with pools has their metrics, with the labels of the table") {
  World world(2);
  add_two_pools(world.config);
  world.produce(3);
  const auto service = world.started();
  CHECK(eventually([&] { return world.committed_offsets() == world.ends(); }));
  for (const auto& info : telemetry::metric_table) {
    if (!info.name.starts_with("named_pool_")) continue;
    INFO(info.name);
    std::set<std::string> pools;
    for (const auto& family : service->families())
      if (family.name == info.name)
        for (const auto& sample : family.samples) {
          CHECK(labels_of(sample) == info.labels);
          pools.insert(sample.labels.back().second);
        }
    CHECK(pools == std::set<std::string>{"first", "last"});
  }
  CHECK(metric(*service, "named_pool_attempts_total", "first") == 6);
  CHECK(metric(*service, "named_pool_attempts_total", "last") == 6);
  CHECK(metric(*service, "named_pool_slots", "first") == 4);
  CHECK(metric(*service, "named_pool_helpers", "first") == 1);
  CHECK(metric(*service, "named_pool_helpers", "last") == 0);
  CHECK(metric(*service, "pool_slots") == 2 * (2 + 1 + 1));  // of all pools, with those for retries
  CHECK(metric(*service, "pool_queue_capacity") == 2 * (256 + 2 + 2));
  stop_cleanly(*service);
}

TEST_CASE("while the downstream of a pool is out, the status names the pool and the lanes that wait for it") {
  World world(2);
  add_east_and_west(world.config);
  world.produce(20);
  std::atomic<bool> is_west_out{true};
  const auto service = world.started([&](const handler::Attempt& attempt) {
    const bool west = attempt.record.offset() % 2 != 0;
    return west && is_west_out ? Outcome::unavailable("no connection") : Outcome::done();
  });
  CHECK(eventually([&] { return world.history.distinct_done() == 20; }));
  // While no probe runs, some of the records wait for another attempt, and the others for the pool.
  const std::string all_wait = "the pool west is out: 10 records of this lane wait";
  CHECK(eventually([&] { return texts_of_pools_out(*service) == std::vector(2, all_wait); }));
  const auto status = service->status();
  const auto now = wall_clock_ms();
  CHECK(trouble_in_words(status.pools[0], now).empty());
  CHECK_THAT(trouble_in_words(status.pools[1], now), Catch::StartsWith("out since "));
  REQUIRE(status.readiness.reasons.size() == 1);
  CHECK_THAT(status.readiness.reasons[0].text,
             Catch::Contains(" of the pool west ") && Catch::Contains("; its records have waited since "));
  is_west_out = false;
  CHECK(eventually([&] { return world.committed_offsets() == world.ends(); }));
  CHECK(eventually([&] { return texts_of_pools_out(*service).empty(); }));
  stop_cleanly(*service);
}

TEST_CASE("if the brokers refuse the topics of parked records, a service starts and parks nothing") {
  const CapturedLog log;
  World world(2);
  add_east_and_west(world.config);
  world.config.lanes.park_after = seconds(10);
  REQUIRE(config::parks(world.config));
  world.config.start_deadline = seconds(10);  // half of it, for all but the topics, is long on a busy machine
  world.produce(3);
  const auto service = world.started();
  CHECK(eventually([&] { return world.committed_offsets() == world.ends(); }));
  CHECK(log.lines({"no record is parked", "-retry-10s"}) == 1);
  stop_cleanly(*service);
}

TEST_CASE("a service without pools has no metrics and no status of pools") {
  World world(1);
  const auto service = world.started();
  for (const auto& family : service->families()) CHECK_FALSE(family.name.starts_with("named_pool_"));
  CHECK(service->status().pools.empty());
  stop_cleanly(*service);
}

TEST_CASE("the status has the running and waiting records of each pool, and a lane the sums") {
  World world(1);
  add_two_pools(world.config);
  world.produce(20);
  Gate gate;
  std::atomic<int> in_last{0};
  const auto service = world.started([&](const handler::Attempt& attempt) {
    // The first worker that comes to a record a second time is that of the last pool.
    if (world.history.started({attempt.record.partition(), attempt.record.offset()}) > 1) {
      ++in_last;
      gate.wait();
    }
    return Outcome::done();
  });
  CHECK(eventually([&] { return in_last == 1 && pool_of(*service, "last").waiting == 19; }));
  const auto last = pool_of(*service, "last");
  CHECK(last.running == 1);
  CHECK(last.slots == 1);
  CHECK(last.helped_by.empty());
  REQUIRE(last.subscribers);
  CHECK(last.subscribers->known == 1);
  CHECK(last.subscribers->out == 0);
  const auto first = pool_of(*service, "first");
  CHECK(first.then == "last");
  CHECK(first.helped_by == std::vector<std::string>{"last"});
  CHECK_FALSE(first.subscribers);
  REQUIRE(first.downstream);
  CHECK(first.downstream->pool == "first");
  const auto lane = service->snapshot().front();
  CHECK(lane.workers == 4);
  CHECK(lane.in_flight >= 1);
  CHECK(lane.queued >= last.waiting);
  gate.open();
  CHECK(eventually([&] { return world.committed_offsets() == world.ends(); }));
  CHECK(eventually([&] { return pool_of(*service, "last").waiting == 0; }));
  stop_cleanly(*service);
}
