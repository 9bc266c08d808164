// Settings that are changed while a service consumes.
#include <set>

#include "service/support.h"

using namespace laneway;
using namespace laneway::service;

TEST_CASE("settings change repeatedly while the service runs, and no record is lost, repeated or moved") {
  World world(4);
  world.rebalance_soon();
  world.config.consumers = 2;
  const auto service = world.started();
  REQUIRE(eventually([&] {
    std::set<std::size_t> members;
    const auto lanes = service->snapshot();
    for (const auto& lane : lanes) members.insert(lane.member);
    return lanes.size() == 4 && members.size() == 2;
  }));
  world.produce(300);  // not earlier: the joining of the members would make some of these run twice
  const auto rebalances = metric(*service, "rebalances_total");
  for (std::uint32_t i = 0; i < 40; ++i) {
    auto wanted = world.config;
    wanted.unnamed.workers = 1 + i % 9;
    wanted.unnamed.queue = i * 7 % 50;
    wanted.lanes.max_incomplete = 50 + i;
    wanted.rate.records = i % 3 == 0 ? 100000 : 0;
    wanted.unnamed.breaker.failures = i % 4;
    wanted.commit.every = 1 + i;
    REQUIRE(service->change(wanted));
    CHECK(service->settings()->unnamed.workers == wanted.unnamed.workers);
    world.produce(10);
  }
  CHECK(eventually([&] { return world.history.done_in_all() == world.produced(); }));
  CHECK(metric(*service, "rebalances_total") == rebalances);
  CHECK(eventually([&] { return metric(*service, "pool_queue_capacity") == 4 * (39 * 7 % 50); }));
  stop_cleanly(*service);
  CHECK(world.each_done_once());
  CHECK(world.committed_offsets() == world.ends());
}

TEST_CASE("a service that has not started, or that stops, changes nothing") {
  World world(1);
  auto wanted = world.config;
  wanted.unnamed.workers = 3;
  const auto service = world.service();
  const auto early = service->change(wanted);
  REQUIRE_FALSE(early);
  CHECK(early.error().kind == ErrorKind::unavailable);
  REQUIRE(service->start());
  CHECK(service->change(wanted));
  service->stop();
  wanted.unnamed.workers = 5;
  CHECK_FALSE(service->change(wanted));
  CHECK(service->settings()->unnamed.workers == 3);
  CHECK_FALSE(service->wait().stuck);
}

TEST_CASE("a changed drain applies to the next stop") {
  World world(1);
  world.config.lanes.drain = std::chrono::hours(1);
  world.produce(1);
  std::atomic<bool> begun{false};
  const auto service = world.started([&](const handler::Attempt& attempt) {
    begun = true;
    (void)attempt.stop.wait_until(SteadyClock::now() + 2 * patience);
    return handler::Outcome::retry("stopped");
  });
  REQUIRE(eventually([&] { return begun.load(); }));
  auto wanted = world.config;
  wanted.lanes.drain = Duration::zero();
  REQUIRE(service->change(wanted));
  service->stop();
  const auto ended = service->wait();
  CHECK(ended.abandoned == 1);
  CHECK_FALSE(ended.stuck);
}

TEST_CASE("a breaker that is turned on opens, and one that is turned off holds nothing any more") {
  World world(1);
  world.config.unnamed.breaker = {.failures = 0, .probe = std::chrono::hours(1)};
  world.config.retry.max_backoff = milliseconds(50);
  std::atomic<bool> out{true};
  world.produce(20);
  const auto service = world.started([&](const handler::Attempt&) {
    return out ? handler::Outcome::unavailable("out") : handler::Outcome::done();
  });
  REQUIRE(eventually([&] { return metric(*service, "pool_jobs_total", "unavailable") > 40; }));
  CHECK(metric(*service, "breaker_state") == 0);
  CHECK(eventually([&] { return metric(*service, "downstream_calls_total", "other_failure") > 0; }));
  auto wanted = world.config;
  wanted.unnamed.breaker.failures = 1;
  REQUIRE(service->change(wanted));
  CHECK(eventually([&] { return metric(*service, "breaker_state") == 2; }));
  out = false;
  REQUIRE(service->change(world.config));
  CHECK(eventually([&] { return world.history.distinct_done() == 20; }));
  stop_cleanly(*service);
}

TEST_CASE("the rate of the process can be raised while it holds the lanes") {
  World world(1);
  world.config.rate.records = 1;
  world.produce(1000);
  const auto service = world.started();
  REQUIRE(eventually([&] {
    const auto lanes = service->snapshot();
    return lanes.size() == 1 && lanes.front().held_by(lane::Hold::rate_limited);
  }));
  auto wanted = world.config;
  wanted.rate.records = 0;
  REQUIRE(service->change(wanted));
  CHECK(eventually([&] { return world.history.distinct_done() == 1000; }));
  stop_cleanly(*service);
}

TEST_CASE("the rate of dead letters can be raised while dead letters wait") {
  World world(1);
  REQUIRE(world.cluster->create_topic("orders-dlt", 1));
  world.config.dead_letter.topic = "{topic}-dlt";
  world.config.dead_letter.max_rate = 1;  // 60 rejections at once
  world.produce(500);
  const auto service =
      world.started([](const handler::Attempt&) { return handler::Outcome::reject("of no use"); });
  REQUIRE(eventually([&] { return metric(*service, "dead_letters_total") >= 60; }));
  auto wanted = world.config;
  wanted.dead_letter.max_rate = 0;
  REQUIRE(service->change(wanted));
  CHECK(eventually([&] { return metric(*service, "dead_letters_total") == 500; }));
  stop_cleanly(*service);
}
