// Members that come and go, and brokers that fail, on an embedded cluster.
#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

#include "captured_log.h"
#include "catch.h"
#include "service/support.h"
#include "telemetry/series_cap.h"

using namespace laneway;
using namespace laneway::service;
using handler::Outcome;
using Cluster = kafka::MockCluster;

namespace {

Outcome a_millisecond(const handler::Attempt& attempt) {
  (void)attempt.stop.wait_until(SteadyClock::now() + milliseconds(1));
  return Outcome::done();
}

std::set<std::int32_t> partitions_of(const Service& service) {
  std::set<std::int32_t> result;
  for (const auto& lane : service.snapshot()) result.insert(lane.partition);
  return result;
}

/// The members that have partitions.
std::set<std::size_t> members_at_work(const Service& service) {
  std::set<std::size_t> members;
  for (const auto& lane : service.snapshot()) members.insert(lane.member);
  return members;
}

/// The partitions with series in the metrics; -1 for others.
std::set<std::int32_t> measured_partitions(const Service& service) {
  std::set<std::int32_t> result;
  for (const auto& family : service.families())
    for (const auto& sample : family.samples)
      for (const auto& [label, value] : sample.labels)
        if (label == "partition") result.insert(value == telemetry::the_others ? -1 : std::stoi(value));
  return result;
}

/// Whether both have some partitions, and together all of them once.
bool share(const Service& a, const Service& b, std::size_t partitions) {
  auto all = partitions_of(a);
  const auto of_b = partitions_of(b);
  const auto sum = all.size() + of_b.size();
  all.insert(of_b.begin(), of_b.end());
  return !of_b.empty() && !partitions_of(a).empty() && sum == partitions && all.size() == partitions;
}

}  // namespace

TEST_CASE("a joining member takes over partitions, a leaving one gives them back, and no record is lost") {
  for (const std::string strategy : {"range", "cooperative-sticky"}) {
    INFO(strategy);
    World world(4);
    world.rebalance_soon();
    world.config.kafka["partition.assignment.strategy"] = {strategy, "", false};
    const auto first = world.started(a_millisecond);
    CHECK(eventually([&] { return first->snapshot().size() == 4; }));
    world.produce(300);
    bool ready = true;
    const auto second = world.started(a_millisecond);
    CHECK(eventually([&] {
      ready = ready && first->readiness().ready();
      return share(*first, *second, 4);
    }));
    CHECK(ready);  // all the while
    CHECK(eventually([&] { return measured_partitions(*first) == partitions_of(*first); }));
    CHECK(measured_partitions(*first).size() < 4);  // revoked partitions have no series
    world.produce(300);
    CHECK(eventually([&] { return world.history.distinct_done() == world.produced(); }));
    world.produce(300);
    stop_cleanly(*second);
    CHECK(eventually([&] { return first->snapshot().size() == 4; }));
    CHECK(eventually([&] { return world.history.distinct_done() == world.produced(); }));
    CHECK(eventually([&] { return world.committed_offsets() == world.ends(); }));
    stop_cleanly(*first);
    CHECK(metric(*first, "rebalances_total", "lost") == 0);
    // Some records are done twice: the embedded coordinator refuses commits during a rebalance.
  }
}

TEST_CASE("a member that the group does not admit is not ready, before its first assignment and after") {
  World world(1);
  world.rebalance_soon();
  world.config.kafka["max.poll.interval.ms"] = {"4000", "", false};  // also the longest time of a rebalance
  const auto refuse = [&] { world.cluster->fail_next(Cluster::Request::join_group, 100000); };
  SECTION("before its first assignment") {
    refuse();
    const auto service = world.started();
    CHECK(codes(*service) == std::vector<std::string>{"unassigned"});
    stop_cleanly(*service);
  }
  SECTION("after its first assignment") {
    const auto service = world.started();
    REQUIRE(eventually([&] { return service->readiness().ready(); }));
    world.read_a_record();
    refuse();
    world.cluster->fail_next(Cluster::Request::heartbeat, 1, Cluster::Failure::rebalancing);
    CHECK(eventually([&] { return codes(*service) == std::vector<std::string>{"rebalancing"}; }));
    stop_cleanly(*service);
  }
}

TEST_CASE("the members of one process share the partitions, and static members have names of their own") {
  for (const bool is_static : {false, true}) {
    INFO(is_static);
    World world(4);
    world.rebalance_soon();
    world.config.consumers = 2;
    if (is_static) world.config.kafka["group.instance.id"] = {"host-a", "", false};
    world.produce(100);
    const auto service = world.started();
    CHECK(eventually([&] {
      return members_at_work(*service) == std::set<std::size_t>{0, 1} && partitions_of(*service).size() == 4;
    }));
    CHECK(eventually([&] { return world.history.distinct_done() == world.produced(); }));
    stop_cleanly(*service);
    CHECK(world.committed_offsets() == world.ends());
  }
}

TEST_CASE("members of one process leave together: none sees a rebalance while it drains") {
  World world(2);
  world.rebalance_soon();
  world.config.consumers = 2;
  Gate finish;
  const auto service = world.started([&](const handler::Attempt& attempt) {
    if (attempt.record.partition() == 1) finish.wait();
    return Outcome::done();
  });
  CHECK(eventually([&] { return members_at_work(*service) == std::set<std::size_t>{0, 1}; }));
  const auto assignments = metric(*service, "rebalances_total", "assign");
  world.produce(1);
  CHECK(eventually([&] { return world.history.started({0, 0}) == 1 && world.history.started({1, 0}) == 1; }));
  service->stop();
  // The first member has nothing more to do. If it left now, the other's remaining commits would be refused.
  REQUIRE(eventually([&] { return members_at_work(*service).size() == 1; }));
  REQUIRE(eventually([&] { return world.committed_offsets().front() == 1; }));
  finish.open();
  const auto ended = service->wait();
  CHECK(ended.abandoned == 0);
  CHECK(metric(*service, "rebalances_total", "assign") == assignments);
  CHECK(world.committed_offsets() == world.ends());
}

TEST_CASE("a broker that restarts costs no record") {
  const CapturedLog log;
  World world(2);
  Gate back_again;
  const auto service = world.started([&](const handler::Attempt& attempt) {
    if (attempt.record.offset() >= 100) back_again.wait();
    return Outcome::done();
  });
  CHECK(eventually([&] { return service->snapshot().size() == 2; }));
  world.produce(200);
  CHECK(eventually([&] { return world.history.distinct_done() == 200; }));
  const auto errors = [&] { return log.lines({"msg=\"client error\""}); };
  const auto before = errors();
  REQUIRE(world.cluster->stop_broker(1));
  CHECK(eventually([&] { return errors() > before; }));
  REQUIRE(world.cluster->start_broker(1));
  back_again.open();
  world.produce(200);
  CHECK(eventually([&] { return world.history.distinct_done() == world.produced(); }));
  CHECK(eventually([&] { return world.committed_offsets() == world.ends(); }));
  stop_cleanly(*service);
}

TEST_CASE("failed commits are repeated") {
  World world(2);
  const auto service = world.started();
  CHECK(eventually([&] { return service->snapshot().size() == 2; }));
  world.cluster->fail_next(Cluster::Request::offset_commit, 3, Cluster::Failure::rebalancing);
  world.produce(50);
  CHECK(eventually([&] { return world.committed_offsets() == world.ends(); }));
  CHECK(metric(*service, "commits_total", "failure") > 0);
  stop_cleanly(*service);
}

TEST_CASE("the last commit of a drain is repeated if it was refused for an outdated epoch") {
  World world(1);
  world.rebalance_soon();
  world.config.commit.interval = std::chrono::hours(1);  // so that only the drain commits
  world.produce(50);
  {
    const auto service = world.started();
    CHECK(eventually([&] { return world.history.distinct_done() == 50; }));
    world.cluster->fail_next(Cluster::Request::offset_commit, 2, Cluster::Failure::outdated_epoch);
    stop_cleanly(*service);
  }
  CHECK(world.committed_offsets() == world.ends());
  const auto service = world.started();
  world.produce(10);
  CHECK(eventually([&] { return world.history.distinct_done() == 60; }));
  stop_cleanly(*service);
  CHECK(world.each_done_once());
}

TEST_CASE("committed offsets that cannot be read at first are requested again, and nothing runs twice") {
  World world(1);
  world.rebalance_soon();
  world.produce(50);
  {
    const auto service = world.started();
    CHECK(eventually([&] { return world.history.distinct_done() == 50; }));
    stop_cleanly(*service);
  }
  world.cluster->fail_next(Cluster::Request::offset_fetch, 3);
  const auto service = world.started();
  world.produce(10);
  CHECK(eventually([&] { return world.history.distinct_done() == 60; }));
  stop_cleanly(*service);
  CHECK(world.each_done_once());
}

TEST_CASE("a member expelled by the group loses its lanes and joins again, and nothing is skipped") {
  World world(2);
  world.rebalance_soon();
  world.produce(20);
  const auto service = world.started([](const handler::Attempt& attempt) -> Outcome {
    if (attempt.record.offset() < 5) return Outcome::done();
    if (attempt.stop.wait_until(SteadyClock::now() + milliseconds(20))) return Outcome::retry("stopped");
    return Outcome::done();
  });
  CHECK(eventually([&] { return world.history.distinct_done() > 4; }));
  world.cluster->fail_next(Cluster::Request::heartbeat, 1, Cluster::Failure::unknown_member);
  CHECK(eventually([&] { return metric(*service, "rebalances_total", "lost") > 0; }));
  CHECK(eventually([&] { return service->snapshot().size() == 2; }));
  world.produce(20);
  CHECK(eventually([&] { return world.history.distinct_done() == world.produced(); }));
  CHECK(eventually([&] { return world.committed_offsets() == world.ends(); }));
  stop_cleanly(*service);
}

TEST_CASE("a member that lost its partition repeatedly at one offset does not count as dead") {
  const CapturedLog log;
  World world(1);
  world.rebalance_soon();
  world.produce(3);
  std::atomic<bool> open{false};
  const auto service = world.started([&](const handler::Attempt& attempt) {
    if (open) return Outcome::done();
    (void)attempt.stop.wait_until(SteadyClock::now() + 2 * patience);
    return Outcome::retry("stopped");
  });
  const auto begun = [&] { return world.history.started({0, 0}); };
  for (int losses = 1; losses <= 3; ++losses) {
    REQUIRE(eventually([&] { return begun() == losses; }));
    world.cluster->fail_next(Cluster::Request::heartbeat, 1, Cluster::Failure::unknown_member);
    REQUIRE(eventually([&] { return metric(*service, "rebalances_total", "lost") == losses; }));
  }
  REQUIRE(eventually([&] { return begun() == 4; }));
  CHECK(log.lines({"msg=\"records run"}) == 0);
  open = true;
  world.cluster->fail_next(Cluster::Request::heartbeat, 1, Cluster::Failure::unknown_member);
  CHECK(eventually([&] { return world.committed_offsets() == world.ends(); }));
  stop_cleanly(*service);
}

TEST_CASE("a topic that matches the pattern later is consumed, and a plan that it exceeds restarts members") {
  World world(2);
  world.rebalance_soon();
  world.config.topics = {"^orders.*"};
  world.config.kafka["topic.metadata.refresh.interval.ms"] = {"300", "", false};
  world.produce(50);
  const auto service = world.started();
  CHECK(eventually([&] { return service->snapshot().size() == 2; }));
  REQUIRE(world.cluster->create_topic("orders-of-others", 20));
  CHECK(eventually([&] { return service->snapshot().size() == 22; }));
  CHECK(eventually([&] { return metric(*service, "lane_state", "running") == 22; }));
  world.produce(50);
  CHECK(eventually([&] { return world.history.distinct_done() == world.produced(); }));
  stop_cleanly(*service);
  CHECK(world.each_done_once());
}

TEST_CASE("members that start in turn wait only for running records while no service time is known") {
  World world(4);
  world.rebalance_soon();
  world.most_per_task = 1;
  world.config.lanes.drain = 2 * patience;
  world.config.kafka["partition.assignment.strategy"] = {"range", "", false};
  world.produce(50);
  Gate first;  // of the records that run when the second member joins
  Gate rest;
  const auto work = [&](const handler::Attempt& attempt) {
    (attempt.record.offset() < 8 ? first : rest).wait();
    return Outcome::done();
  };
  const auto a = world.started(work);
  REQUIRE(eventually([&] {
    for (std::int32_t p = 0; p < 4; ++p)
      if (world.history.started({p, 0}) == 0) return false;
    return true;
  }));
  const auto draining = [&](const LaneView& lane) { return lane.state == lane::State::draining; };
  const auto b = world.started(work);
  REQUIRE(eventually([&] {
    const auto lanes = a->snapshot();
    return lanes.size() == 4 && std::all_of(lanes.begin(), lanes.end(), [&](const LaneView& lane) {
             return draining(lane) && lane.queued == 0;
           });
  }));
  first.open();
  CHECK(eventually([&] {
    const auto lanes = a->snapshot();
    return std::none_of(lanes.begin(), lanes.end(), draining);
  }));
  rest.open();
  CHECK(eventually([&] { return share(*a, *b, 4); }));
  const auto c = world.started(work);
  CHECK(eventually([&] { return !partitions_of(*c).empty(); }));
  CHECK(eventually([&] { return world.history.distinct_done() == world.produced(); }));
  CHECK(eventually([&] { return world.committed_offsets() == world.ends(); }));
  for (const auto* service : {&a, &b, &c}) stop_cleanly(**service);
}

TEST_CASE("a handler that works longer than the drain does not end the process when members restart") {
  const CapturedLog log;
  World world(2);
  world.rebalance_soon();
  world.most_per_task = 1;
  world.config.lanes.drain = milliseconds(100);
  world.config.topics = {"^orders.*"};
  world.config.kafka["partition.assignment.strategy"] = {"cooperative-sticky", "", false};
  world.config.kafka["topic.metadata.refresh.interval.ms"] = {"300", "", false};
  Gate finish;
  std::atomic<int> begun{0};
  const auto service = world.started([&](const handler::Attempt& attempt) {
    if (attempt.record.partition() == 0 && attempt.record.offset() == 0 && ++begun == 1) finish.wait();
    return Outcome::done();
  });
  Ended ended;
  std::thread waiter([&] { ended = service->wait(); });
  world.produce(5);
  CHECK(eventually([&] { return world.history.distinct_done() == world.produced() - 1; }));
  CHECK(begun == 1);
  REQUIRE(world.cluster->create_topic("orders-of-others", 20));
  // The record runs again, with a new member, although its first attempt still works.
  CHECK(eventually([&] { return world.history.distinct_done() == world.produced(); }));
  CHECK(eventually([&] { return metric(*service, "lane_state", "running") == 22; }));
  CHECK(log.lines({"msg=\"handlers of a replaced member still work\"", "abandoned=1"}) == 1);
  CHECK(metric(*service, "abandoned_total") == 1);  // of a lane and a member that are gone
  CHECK(eventually([&] { return world.committed_offsets() == world.ends(); }));
  finish.open();
  CHECK(eventually([&] { return log.lines({"msg=\"handlers of replaced members have returned\""}) == 1; }));
  service->stop();
  waiter.join();
  CHECK_FALSE(ended.error);
  CHECK_FALSE(ended.stuck);
  CHECK(ended.abandoned == 1);
}

TEST_CASE("topics that change while revoked partitions drain run nothing twice, and all are read") {
  for (const std::string strategy : {"range", "cooperative-sticky"}) {
    INFO(strategy);
    World world(2);
    world.rebalance_soon();
    world.config.lanes.drain = patience;
    world.config.topics = {"^orders.*"};
    world.config.kafka["partition.assignment.strategy"] = {strategy, "", false};
    world.config.kafka["topic.metadata.refresh.interval.ms"] = {"300", "", false};
    Gate finish;
    const auto service = world.started([&](const handler::Attempt& attempt) {
      if (attempt.record.offset() == 0) finish.wait();
      return Outcome::done();
    });
    REQUIRE(eventually([&] { return service->snapshot().size() == 2; }));
    world.produce(5);
    REQUIRE(eventually([&] {
      return world.history.started({0, 0}) == 1 && world.history.started({1, 0}) == 1;
    }));
    world.cluster->fail_next(Cluster::Request::heartbeat, 1, Cluster::Failure::rebalancing);
    if (strategy == "range")
      REQUIRE(eventually([&] { return metric(*service, "rebalances_total", "revoke") > 0; }));
    REQUIRE(world.cluster->create_topic("orders-of-others", 2));
    finish.open();
    CHECK(eventually([&] { return metric(*service, "lane_state", "running") == 4; }));
    world.produce(5);
    CHECK(eventually([&] { return world.history.distinct_done() == world.produced(); }));
    stop_cleanly(*service);
    CHECK(world.each_done_once());
    CHECK(world.committed_offsets() == world.ends());
  }
}
