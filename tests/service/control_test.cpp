// A running service is suspended, resumed, told to skip, and says how it is, on an embedded cluster.
#include <algorithm>
#include <atomic>

#include "captured_log.h"
#include "catch.h"
#include "lane/commit/stored_commit.h"
#include "service/support.h"

using namespace laneway;
using namespace laneway::service;
using handler::Outcome;
using Action = ControlRequest::Action;
using Kind = ControlAnswer::Kind;

namespace {

ControlRequest suspend_lane(std::optional<std::int32_t> partition = {}) {
  return {.action = Action::suspend, .topic = "orders", .partition = partition};
}
ControlRequest resume_lane(std::optional<std::int32_t> partition = {}) {
  return {.action = Action::resume, .topic = "orders", .partition = partition};
}
ControlRequest skip_record(std::int32_t partition, std::int64_t offset) {
  return {Action::skip, "orders", partition, offset, "bad order"};
}

bool has_lanes(const Service& service, std::size_t count) {
  const auto lanes = service.snapshot();
  return lanes.size() == count &&
         std::all_of(lanes.begin(), lanes.end(), [](const auto& l) { return l.at_work(); });
}

/// The lane of this partition; nothing when it is not here.
std::optional<LaneFacts> lane_of(const Service& service, std::int32_t partition) {
  for (auto& lane : service.status().lanes)
    if (lane.view.partition == partition) return std::move(lane);
  return std::nullopt;
}

/// Of one partition.
std::size_t done_of(const World& world, std::int32_t partition) {
  const auto done = world.history.done();
  return static_cast<std::size_t>(std::count_if(
      done.begin(), done.end(), [&](const auto& record) { return record.first.first == partition; }));
}

}  // namespace

TEST_CASE("a suspended lane waits while others go on, also through rebalances, until it is resumed") {
  World world(2);
  world.rebalance_soon();
  const auto first = world.started();
  REQUIRE(eventually([&] { return has_lanes(*first, 2); }));
  CHECK(first->control(suspend_lane(1)).kind == Kind::done);
  REQUIRE(eventually([&] { return lane_of(*first, 1)->view.suspended(); }));
  world.produce(50);
  REQUIRE(eventually([&] { return done_of(world, 0) == 50; }));
  REQUIRE(eventually([&] { return lane_of(*first, 1)->view.lag == 50; }));
  CHECK(done_of(world, 1) == 0);
  CHECK(eventually([&] {
    const auto lane = lane_of(*first, 1);
    return lane && lane->detail.held_by == "suspended";
  }));
  CHECK(first->readiness().ready());
  {
    // Eager rebalances: both partitions leave the first service and one or both come back.
    const auto second = world.started([](const handler::Attempt& attempt) {
      return attempt.record.partition() == 1 ? Outcome::retry("the first has suspended it") : Outcome::done();
    });
    REQUIRE(eventually([&] { return has_lanes(*first, 1) && has_lanes(*second, 1); }));
    stop_cleanly(*second);
  }
  REQUIRE(eventually([&] { return has_lanes(*first, 2); }));
  CHECK(lane_of(*first, 1)->view.suspended());
  REQUIRE(eventually([&] { return lane_of(*first, 1)->view.state == lane::State::paused; }));
  world.produce(10);
  REQUIRE(eventually([&] { return done_of(world, 0) == 60; }));
  CHECK(eventually([&] { return lane_of(*first, 1)->view.lag == 60; }));
  CHECK(done_of(world, 1) == 0);
  CHECK(first->control(resume_lane(1)).kind == Kind::done);
  CHECK(eventually([&] { return world.committed_offsets() == world.ends(); }));
  stop_cleanly(*first);
}

TEST_CASE("a whole topic is suspended, and one of its partitions resumed") {
  World world(3);
  const auto service = world.started();
  REQUIRE(eventually([&] { return has_lanes(*service, 3); }));
  CHECK(service->control(suspend_lane()).kind == Kind::done);
  CHECK(service->control(resume_lane(2)).kind == Kind::done);
  REQUIRE(eventually([&] { return lane_of(*service, 0)->view.suspended(); }));
  world.produce(20);
  REQUIRE(eventually([&] { return done_of(world, 2) == 20; }));
  CHECK(done_of(world, 0) + done_of(world, 1) == 0);
  CHECK(service->control(resume_lane()).kind == Kind::done);
  for (const std::string text : {"orders is suspended.", "orders:2 has been resumed."}) {
    const auto events = service->timeline(0).events;
    INFO(text);
    CHECK(std::count_if(events.begin(), events.end(),
                        [&](const auto& event) { return event.text == text; }) == 1);
  }
  CHECK(eventually([&] { return world.committed_offsets() == world.ends(); }));
  stop_cleanly(*service);
}

TEST_CASE("a record that fails again and again is skipped, and its partition's commits go on") {
  World world(1);
  REQUIRE(world.cluster->create_topic("orders-dlt", 1));
  world.config.dead_letter.topic = "{topic}-dlt";
  world.config.retry.attempts = 1000000;
  world.produce(20);
  const auto service = world.started([](const handler::Attempt& attempt) {
    return attempt.record.offset() == 5 ? Outcome::retry("HTTP 500") : Outcome::done();
  });
  REQUIRE(eventually([&] { return world.history.distinct_done() == 19; }));
  REQUIRE(eventually([&] { return world.committed_offsets() == std::vector<std::int64_t>{5}; }));
  REQUIRE(eventually([&] {
    const auto oldest = lane_of(*service, 0)->detail.oldest;
    return oldest && oldest->offset == 5 && oldest->error == "HTTP 500";
  }));
  CHECK(service->control(skip_record(0, 4)).kind == Kind::not_found);
  const auto answer = service->control(skip_record(0, 5));
  CHECK((answer.kind == Kind::done || answer.kind == Kind::accepted));
  CHECK(eventually([&] { return world.committed_offsets() == world.ends(); }));
  CHECK(metric(*service, "dead_letters_total", "skipped") == 1);
  const auto status = service->status();
  CHECK(status.lanes.at(0).view.dead_letters == 1);
  CHECK(status.lanes.at(0).view.workers == world.config.unnamed.workers);
  CHECK(status.lanes.at(0).view.queue_capacity == world.config.unnamed.queue);
  CHECK(status.totals.assigned == 1);
  CHECK(status.totals.lost == 0);
  CHECK(status.totals.commits > 0);
  CHECK(status.totals.commits_failed == 0);
  stop_cleanly(*service);
}

TEST_CASE("without dead letters no record is skipped, and absent lanes are not found") {
  {
    World closed(1);
    closed.cluster->fail_next(kafka::MockCluster::Request::join_group, 100000);
    const auto outside = closed.started();
    CHECK(outside->control(suspend_lane(0)).kind == Kind::not_found);
    stop_cleanly(*outside);
  }
  World world(2);
  const auto service = world.started();
  REQUIRE(eventually([&] { return has_lanes(*service, 2); }));
  const auto refused = service->control(skip_record(0, 0));
  CHECK(refused.kind == Kind::refused);
  CHECK_THAT(refused.text, Catch::Contains("dead_letter is not configured"));
  const auto unknown = service->control(suspend_lane(7));
  CHECK(unknown.kind == Kind::not_found);
  CHECK(unknown.text == "orders:7 is not a lane of this process; its lanes are orders:0, orders:1");
  CHECK(service->control({.action = Action::resume, .topic = "others"}).kind == Kind::not_found);
  stop_cleanly(*service);
  CHECK(service->control(skip_record(0, 0)).kind != Kind::done);
}

TEST_CASE("a service is ready with its partitions, and not ready with a stalled lane or during a stop") {
  World world(2);
  world.config.admin.ready.stall = seconds(1);
  world.config.retry.backoff = milliseconds(20);
  std::atomic<bool> broken{true};
  auto service = world.service([&](const handler::Attempt& attempt) {
    return broken && attempt.record.partition() == 1 ? Outcome::retry("HTTP 500") : Outcome::done();
  });
  CHECK(codes(*service) == std::vector<std::string>{"starting"});
  REQUIRE(service->start());
  std::thread waiting([&] { (void)service->wait(); });
  CHECK(eventually([&] { return service->readiness().ready(); }));
  world.produce(4);  // five failures in a row would open the breaker
  REQUIRE(eventually([&] { return codes(*service) == std::vector<std::string>{"stalled"}; }));
  // Between two attempts there is no error to tell.
  CHECK(eventually([&] {
    const auto reasons = service->readiness().reasons;
    const auto says = [&](const char* words) {
      return reasons.front().text.find(words) != std::string::npos;
    };
    return reasons.size() == 1 && reasons.front().topic == "orders" && reasons.front().partition == 1 &&
           says("with a lag of 4") && says("oldest record orders:1:0,") && says("HTTP 500");
  }));
  // What stands still because a person wants it so is none.
  CHECK(service->control(suspend_lane(1)).kind == Kind::done);
  CHECK(eventually([&] { return service->readiness().ready(); }));
  CHECK(service->control(resume_lane(1)).kind == Kind::done);
  CHECK(eventually([&] { return !service->readiness().ready(); }));
  broken = false;
  CHECK(eventually([&] { return service->readiness().ready(); }));
  service->stop();
  waiting.join();
  CHECK(codes(*service) == std::vector<std::string>{"stopping"});
}

TEST_CASE("a service whose brokers are gone is not ready") {
  World world(1);
  const auto service = world.started();
  std::thread waiting([&] { (void)service->wait(); });
  CHECK(eventually([&] { return service->readiness().ready(); }));
  world.cluster.reset();
  CHECK(eventually([&] {
    const auto reasons = service->readiness().reasons;
    return !reasons.empty() && reasons.front().code == ReasonCode::no_broker;
  }));
  service->stop();
  waiting.join();
}

TEST_CASE("a service whose handler ignores its time-out is not ready until the handler returns") {
  const CapturedLog log;
  World world(1);
  world.timeout = milliseconds(100);
  Gate gate;
  world.produce(2);
  const auto service = world.started([&](const handler::Attempt& attempt) {
    if (attempt.record.offset() == 0) gate.wait();
    return Outcome::done();
  });
  REQUIRE(eventually([&] { return codes(*service) == std::vector<std::string>{"stuck"}; }));
  CHECK_THAT(service->readiness().reasons.front().text, Catch::Contains("orders:0 has 1 stuck worker: "));
  CHECK(metric(*service, "pool_stuck") == 1);
  CHECK(log.lines({"msg=\"handler stuck\"", "partition=0", "offset=0"}) == 1);
  gate.open();
  CHECK(eventually([&] { return service->readiness().ready(); }));
  CHECK(metric(*service, "pool_stuck") == 0);
  stop_cleanly(*service);
}

TEST_CASE("a service is not ready while a record holds its lane for too long, even if other lanes go on") {
  World world(1);
  world.timeout = std::chrono::hours(1);
  world.config.admin.ready.stall = seconds(1);
  world.config.unnamed.workers = 2;
  world.config.unnamed.queue = 2000;
  world.config.lanes.max_incomplete = 1000;
  Gate gate;
  std::atomic<std::int64_t> allowed{0};
  world.produce(1100);
  const auto service = world.started([&](const handler::Attempt& attempt) {
    if (attempt.record.offset() == 0) gate.wait();
    while (attempt.record.offset() > allowed && !attempt.stop.stop_requested())
      std::this_thread::sleep_for(milliseconds(1));
    return Outcome::done();
  });
  std::thread waiting([&] { (void)service->wait(); });
  auto next = SteadyClock::now();
  CHECK(eventually([&] {
    if (SteadyClock::now() >= next) ++allowed, next += milliseconds(100);
    return codes(*service) == std::vector<std::string>{"held"};
  }));
  CHECK(eventually([&] {
    const auto reasons = service->readiness().reasons;
    return !reasons.empty() && reasons.front().text.find("oldest record orders:0:0,") != std::string::npos;
  }));
  allowed = 2000;
  gate.open();
  CHECK(eventually([&] { return service->readiness().ready(); }));
  service->stop();
  waiting.join();
}

TEST_CASE("a service whose workers are all busy gets the advice to add workers") {
  World world(1);
  world.advice_after = seconds(2);
  world.config.unnamed.workers = 8;
  world.config.unnamed.queue = 2000;
  std::atomic<std::int64_t> allowed{0};
  world.produce(1500);
  const auto service = world.started([&](const handler::Attempt& attempt) {
    while (attempt.record.offset() > allowed && !attempt.stop.stop_requested())
      std::this_thread::sleep_for(milliseconds(1));
    return Outcome::done();
  });
  std::thread waiting([&] { (void)service->wait(); });
  CHECK(service->status().advice.empty());
  auto next = SteadyClock::now();
  CHECK(eventually([&] {
    if (SteadyClock::now() >= next) ++allowed, next += milliseconds(100);
    const auto advice = service->status().advice;
    return !advice.empty() && advice.front().starts_with("lanes.workers 8 -> 12: all busy ") &&
           advice.front().ends_with(" % of the last minute (orders:0)");
  }));
  allowed = 2000;
  service->stop();
  waiting.join();
}

namespace {

/// Whether the service has a lane of partition `partition`, and it is suspended.
bool has_suspended(const Service& service, std::int32_t partition) {
  const auto lane = lane_of(service, partition);
  return lane && lane->view.at_work() && lane->view.suspended();
}

/// Whether the commit of each partition says that it is suspended.
bool all_committed_as_suspended(World& world) {
  const auto committed = world.committed();
  return std::all_of(committed.begin(), committed.end(), [](const auto& offset) {
    const auto decision = lane::StoredCommit::read(offset).suspension;
    return offset.offset >= 0 && decision && decision->suspended;
  });
}

}  // namespace

TEST_CASE("a suspension of quiet lanes moves with the partitions to the next owner, until resumed there") {
  World world(2);  // nothing was ever produced or committed
  world.rebalance_soon();
  const auto first = world.started();
  REQUIRE(eventually([&] { return has_lanes(*first, 2); }));
  const auto answer = first->control(suspend_lane());
  CHECK(answer.kind == Kind::done);
  CHECK_THAT(answer.text, Catch::Contains("also after a restart"));
  REQUIRE(eventually([&] { return all_committed_as_suspended(world); }));
  const auto second = world.started();
  REQUIRE(eventually([&] { return has_lanes(*first, 1) && has_lanes(*second, 1); }));
  world.produce(5);
  const auto moved = second->snapshot().front().partition;
  CHECK(has_suspended(*second, moved));
  CHECK(has_suspended(*first, 1 - moved));
  CHECK(second->readiness().suspended == std::vector<std::string>{"orders:" + std::to_string(moved)});
  CHECK(lane_of(*second, moved)->detail.suspended_ms);
  // Not here any more, so it cannot be resumed here.
  const auto refused = first->control(resume_lane(moved));
  CHECK(refused.kind == Kind::not_found);
  CHECK_THAT(refused.text, Catch::Contains("a suspension goes with its partition"));
  CHECK(second->control(resume_lane(moved)).kind == Kind::done);
  CHECK(eventually([&] { return done_of(world, moved) == 5; }));
  CHECK(done_of(world, 1 - moved) == 0);
  // And back: the first process does not suspend it again.
  stop_cleanly(*second);
  REQUIRE(eventually([&] { return has_lanes(*first, 2); }));
  CHECK_FALSE(has_suspended(*first, moved));
  CHECK(has_suspended(*first, 1 - moved));
  stop_cleanly(*first);
}

TEST_CASE("a suspension survives a restart, except one of this process only") {
  World world(1);
  world.rebalance_soon();
  world.produce(5);
  {
    const auto before = world.started();
    REQUIRE(eventually([&] { return world.committed_offsets() == world.ends(); }));
    CHECK(before->control(suspend_lane(0)).kind == Kind::done);
    CHECK(all_committed_as_suspended(world));  // the answer waits for the brokers
    stop_cleanly(*before);
  }
  world.produce(5);
  {
    const auto between = world.started();
    REQUIRE(eventually([&] { return has_lanes(*between, 1); }));
    CHECK(has_suspended(*between, 0));
    REQUIRE(eventually([&] { return lane_of(*between, 0)->view.lag == 5; }));
    CHECK(between->control(resume_lane(0)).kind == Kind::done);
    REQUIRE(eventually([&] { return world.committed_offsets() == world.ends(); }));
    auto here = suspend_lane(0);
    here.here = true;
    CHECK(between->control(here).kind == Kind::done);
    REQUIRE(eventually([&] { return has_suspended(*between, 0); }));
    stop_cleanly(*between);
  }
  world.produce(5);
  const auto after = world.started();
  CHECK(eventually([&] { return world.committed_offsets() == world.ends(); }));
  stop_cleanly(*after);
  CHECK(world.each_done_once());
}
