// A service with named pools: what its status and its metrics say of them.
#include <algorithm>
#include <set>

#include "service/support.h"
#include "telemetry/metric_table.h"

using namespace laneway;
using namespace laneway::service;
using handler::Outcome;

namespace {

/// Records go from `first` to `last`, which has one worker and limits for each text of the key.
void add_two_pools(config::Config& config) {
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

/// The value of the label `pool`; the rest of the labels' names, as in the table.
std::string labels_of(const telemetry::Sample& sample) {
  std::string names;
  for (const auto& [name, value] : sample.labels) names += (names.empty() ? "" : ",") + name;
  return names;
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
  CHECK(last.subscribers == 1);
  CHECK(last.subscribers_out == 0);
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
