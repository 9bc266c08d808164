// What the metrics of a lane say, each by its value, at moments that the test makes.
#include "service/lanes/lane_metrics.h"

#include "lane/support.h"
#include "service/status/families.h"

using namespace laneway;
using namespace laneway::service;
using lane::TestLane;

namespace {

std::vector<telemetry::Family> families(const TestLane& test) {
  const std::shared_ptr<const lane::Lane> lane(std::shared_ptr<void>(), test.lane.get());
  return lane_families({lane}, {view_of(*lane, 0)});
}

telemetry::Sample sample(const TestLane& test, const std::string& name) {
  for (auto& family : families(test))
    if (family.name == name) return family.samples.at(0);
  FAIL("no metric is called " << name);
  return {};
}
double value(const TestLane& test, const std::string& name) { return sample(test, name).value; }

TestLane& with_pool(TestLane& test, std::uint32_t workers, std::uint32_t queue) {
  test.stage().settings.workers = workers;
  test.stage().settings.queue = queue;
  return test;
}

}  // namespace

TEST_CASE("two running records and three waiting records are counted") {
  TestLane test;
  with_pool(test, 2, 8);
  test.partition.add_run(0, 5, 10);
  test.partition.high_watermark = 7;
  test.now -= seconds(1000);
  test.begin();
  REQUIRE(test.until_started({0, 1}));
  test.pass(seconds(1));
  CHECK(value(test, "pool_inflight") == 2);
  CHECK(value(test, "pool_queue_depth") == 3);
  CHECK(value(test, "pool_queued_total") == 5);
  CHECK(value(test, "pool_queue_capacity") == 8);
  CHECK(value(test, "pool_workers") == 2);
  CHECK(value(test, "pool_workers_active") == 2);
  CHECK(value(test, "pool_stuck") == 0);
  CHECK(value(test, "lane_lag_records") == 7);
  CHECK(value(test, "lane_finished_beyond_commit_records") == 0);
  CHECK(value(test, "lane_delivered_offset") == 4);
  CHECK(value(test, "lane_oldest_incomplete_seconds") >= 900);
  CHECK(value(test, "memory_records_bytes") == 5 * (10 + lane::record_overhead));
  CHECK(sample(test, "pool_duration_seconds").count == 0);
  CHECK(sample(test, "pool_queue_wait_seconds").count == 2);
  test.handler.answer(0);
  REQUIRE(test.until_started({0, 1, 2}));
  CHECK(value(test, "pool_queue_depth") == 2);
  test.handler.open();
  REQUIRE(test.until([&] { return test.commit() == 5; }));
  REQUIRE(test.until([&] { return value(test, "pool_inflight") == 0; }));
  test.pass(seconds(1));
  for (const std::string name : {"pool_duration_seconds", "pool_queue_wait_seconds"}) {
    INFO(name);
    CHECK(sample(test, name).count == 5);
    CHECK(sample(test, name).sum > 0);
  }
  CHECK(value(test, "lane_oldest_incomplete_seconds") == 0);
  CHECK(value(test, "memory_records_bytes") == 0);
  CHECK(value(test, "lane_committed_offset") == 5);
  CHECK(value(test, "lane_delivered_offset") == 4);
}

TEST_CASE("the number of queued jobs rises with each job and falls when a job leaves the queue") {
  TestLane test;
  with_pool(test, 2, 8);
  test.begin();
  CHECK(value(test, "pool_queue_depth") == 0);
  CHECK(value(test, "pool_queued_total") == 0);
  test.partition.add_run(0, 2);
  REQUIRE(test.until_started({0, 1}));
  for (std::int64_t offset = 2; offset < 6; ++offset) {
    test.partition.add(offset);
    test.work();
    CHECK(value(test, "pool_queue_depth") == static_cast<double>(offset - 1));
    CHECK(value(test, "pool_queued_total") == static_cast<double>(offset + 1));
  }
  for (std::int64_t offset = 0; offset < 4; ++offset) {
    test.handler.answer(offset);
    REQUIRE(test.until_started(lane::offsets(0, offset + 3)));
    CHECK(value(test, "pool_queue_depth") == static_cast<double>(3 - offset));
  }
  CHECK(value(test, "pool_queued_total") == 6);
}

TEST_CASE("one worker runs the records of an ordered partition, and stays for the next") {
  TestLane test;
  with_pool(test, 3, 8);
  test.context.lanes.order = config::Order::partition;
  test.partition.add_run(0, 5);
  test.begin();
  REQUIRE(test.until_started({0}));
  CHECK(value(test, "pool_inflight") ==
        1);  // the others wait in the lane: what a record takes is not known yet
  CHECK(value(test, "pool_queue_depth") == 0);
  CHECK(value(test, "pool_workers_active") == 1);
  test.handler.open();
  std::int64_t next = 5;
  CHECK(test.until([&] {  // idle ones end after a while
    test.partition.add(next++);
    test.work();
    return value(test, "pool_workers_active") == 0 && value(test, "pool_workers") > 0;
  }));
}

TEST_CASE("a lane that an operator holds is suspended, and neither held nor paused") {
  lane::Suspensions suspensions;
  TestLane test;
  test.context.suspensions = &suspensions;
  const auto states = [&] {
    std::string found;
    for (const auto& family : families(test))
      for (const auto& one : family.samples)
        if (family.name == "lane_state" && one.value == 1) found += one.labels.at(2).second + ' ';
    return found;
  };
  test.begin();
  CHECK(states() == "running ");
  suspensions.set_here("orders", 3, true);
  test.lane->follow_suspensions(test.now);
  CHECK(states() == "suspended ");
  test.pass(seconds(60));
  CHECK(test.lane->state() == lane::State::paused);
  CHECK(states() == "suspended ");
  suspensions.set_here("orders", 3, false);
  test.lane->follow_suspensions(test.now);
  test.pass(seconds(1));
  CHECK(states() == "running ");
}

TEST_CASE("the time spent held, then paused, then waiting for the first record, is exported") {
  TestLane test;
  with_pool(test, 1, 2);
  test.context.lanes.pause_after = seconds(5);
  test.partition.add_run(0, 6);
  test.begin();
  test.work();
  test.pass(seconds(4));
  CHECK(value(test, "lane_held_seconds_total") == 4);
  CHECK(value(test, "lane_paused_seconds_total") == 0);
  test.pass(seconds(1));
  test.pass(seconds(3));
  CHECK(value(test, "lane_held_seconds_total") == 5);
  CHECK(value(test, "lane_paused_seconds_total") == 3);
  CHECK(value(test, "lane_holds_total") == 1);
  CHECK(value(test, "lane_pauses_total") == 1);
  test.handler.open();
  REQUIRE(test.until([&] { return test.commit_offset() == 6; }));
  test.pass(milliseconds(50));  // goes on
  test.pass(seconds(2));
  CHECK(sample(test, "lane_resume_latency_seconds").count == 0);
  test.partition.add(6);
  test.work();
  CHECK(sample(test, "lane_resume_latency_seconds").count == 1);
  CHECK(sample(test, "lane_resume_latency_seconds").sum == 2);
}

TEST_CASE("a record beyond its time-out is stuck, and one that outlasts its lane is abandoned") {
  lane::ProcessTotals totals;
  TestLane test;
  test.context.totals = &totals;
  with_pool(test, 1, 8);
  test.handler.job_timeout = seconds(1);
  test.handler.ignore_stops();
  test.partition.add_run(0, 4);
  test.begin();
  REQUIRE(test.until_started({0}));
  test.pass(seconds(2));
  CHECK(value(test, "pool_stuck") == 0);
  test.pass(seconds(11) + patience);  // it began within the patience
  CHECK(value(test, "pool_stuck") == 1);
  REQUIRE(test.until_started({0, 1}));  // in its place
  CHECK(value(test, "pool_inflight") == 2);
  CHECK(totals.abandoned.get() == 0);
  test.lane->begin_drain(test.now, test.now);
  test.lane->cancel();
  test.lane->revoke(test.now);
  CHECK(totals.abandoned.get() == 2);
}

TEST_CASE("an open breaker without waiting records holds nothing, so no outage is exported") {
  lane::Downstream downstream("shop:80", {.breaker = {.failures = 1}});
  lane::RateLimiter rate{config::Rate{}};
  const auto now = SteadyClock::now();
  for (std::uint64_t record = 1; downstream.closed() && record < 100; ++record)
    downstream.failed({.record = record, .reason = "HTTP 500"}, now);
  REQUIRE_FALSE(downstream.closed());
  const std::vector<WatchedDownstream> watched{{&downstream, &rate}};
  const auto state = [&](const LaneView& lane) {
    for (const auto& family : downstream_families(watched, {lane}, now))
      if (family.name == "breaker_state") return family.samples.at(0).value;
    return -1.0;
  };
  LaneView lane;
  CHECK(state(lane) == 2);  // the lag is not known
  lane.lag = 0;
  CHECK(state(lane) == 0);
  lane.lag = 1;
  CHECK(state(lane) == 2);
  lane.hold_bits = lane::bit(lane::Hold::suspended);  // nobody takes the record
  CHECK(state(lane) == 0);
  lane.waiting_retries = 1;  // it had been taken before
  CHECK(state(lane) == 2);
  lane.hold_bits = 0;
  lane.due = false;  // the delay of its retry topic is not over
  CHECK(state(lane) == 0);
  lane.in_flight = 1;  // another record's is
  CHECK(state(lane) == 2);
  CHECK_FALSE(any_waits({}));
}

TEST_CASE("an outage of a named pool's downstream is exported only while records wait for that pool") {
  LaneView lane;
  lane.lag = 10;
  lane.queued = 1;
  lane.pools.resize(2);
  lane.pools[0].name = "orders";
  lane.pools[1].name = "mail";
  lane.pools[0].pool.queued = 1;
  CHECK(any_waits({lane}, "orders"));
  CHECK_FALSE(any_waits({lane}, "mail"));
  lane.pools[1].waiting = 1;
  CHECK(any_waits({lane}, "mail"));
}
