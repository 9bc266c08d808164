// The words for a pool in trouble, and for the lanes that wait for it.
#include "catch.h"
#include "service/pools/pool_status.h"

using namespace laneway;
using namespace laneway::service;

namespace {

constexpr std::int64_t pools_seen_ms = 1767362400000;  // 2026-01-02 14:00:00 UTC

PoolStatus sending_pool() {
  PoolStatus pool;
  pool.name = "send";
  pool.downstream = DownstreamStatus{.name = "shop:443", .last_failure = ""};
  return pool;
}

LaneView lane_of_send() {
  LaneView lane;
  lane.pools.resize(1);
  lane.pools[0].name = "send";
  return lane;
}

}  // namespace

TEST_CASE("a pool that works is in no trouble, and no lane waits for it") {
  CHECK(trouble_in_words(sending_pool(), pools_seen_ms).empty());
  auto lane = lane_of_send();
  lane.pools[0].waiting = 7;
  CHECK(pools_out(lane, {sending_pool()}).empty());
  CHECK(pools_out(lane, {}).empty());
}

TEST_CASE("an outage of a pool is described before its failed calls, and these before its subscribers") {
  auto pool = sending_pool();
  pool.subscribers = Subscribers{.known = 1, .out = 1};
  CHECK(trouble_in_words(pool, pools_seen_ms) == "1 of 1 subscriber is out");
  pool.subscribers = Subscribers{.known = 40, .out = 2, .at_limit = 5};
  CHECK(trouble_in_words(pool, pools_seen_ms) == "2 of 40 subscribers are out");
  pool.downstream->calls = {.calls = 400, .failed = 12, .kinds = {{"HTTP 500", 12}}};
  CHECK(trouble_in_words(pool, pools_seen_ms) ==
        "shop:443 fails for 3 % of calls: HTTP 500 (12), of 400 calls in the last minute");
  pool.downstream->out = seconds(300);
  CHECK(trouble_in_words(pool, pools_seen_ms) ==
        "out since 13:55:00Z: its records wait; records that do not need this pool go on while their lanes "
        "have room");
}

TEST_CASE("a pool with parked records is in trouble, and says since when the oldest of them waits") {
  auto pool = sending_pool();
  pool.parked = {.records = 1200, .oldest = seconds(720)};
  const std::string parked = "1200 records are parked, and the oldest has waited since 13:48:00Z";
  CHECK(trouble_in_words(pool, pools_seen_ms) == parked);
  pool.subscribers = Subscribers{.known = 40, .out = 2};
  CHECK(trouble_in_words(pool, pools_seen_ms) == "2 of 40 subscribers are out; " + parked);
  pool.downstream->calls = {.calls = 400, .failed = 12, .kinds = {{"HTTP 500", 12}}};
  CHECK(trouble_in_words(pool, pools_seen_ms) ==
        "shop:443 fails for 3 % of calls: HTTP 500 (12), of 400 calls in the last minute; " + parked);
  pool.downstream->out = seconds(300);
  CHECK(trouble_in_words(pool, pools_seen_ms) ==
        "out since 13:55:00Z: its records wait, and records that do not need this pool go on; " + parked);
}

TEST_CASE("a lane names the pool that is out and its records that wait for the pool, in whatever place") {
  auto pool = sending_pool();
  pool.downstream->out = seconds(3);
  auto lane = lane_of_send();
  CHECK(pools_out(lane, {pool}).empty());
  lane.pools[0].pool.in_flight = 1;  // a probe
  REQUIRE(pools_out(lane, {pool}).size() == 1);
  CHECK(pools_out(lane, {pool})[0].text == "the pool send is out");
  lane.pools[0].pool.in_flight = 0;
  lane.pools[0].waiting_attempts = 1;
  REQUIRE(pools_out(lane, {pool}).size() == 1);
  CHECK(pools_out(lane, {pool})[0].text == "the pool send is out: 1 record of this lane waits");
}

TEST_CASE(
    "a lane counts the records that wait for the subscribers that are out, and no others of their pool") {
  auto lane = lane_of_send();
  lane.pools[0].waiting = 1000;
  lane.pools[0].subscribers_out = 2;
  lane.pools[0].waiting_for_them = 12;
  const auto out = pools_out(lane, {sending_pool()});
  REQUIRE(out.size() == 1);
  CHECK(out[0].pool == "send");
  CHECK(out[0].waiting == 12);
  CHECK(out[0].text == "2 subscribers of the pool send are out: 12 records of this lane wait");
}
