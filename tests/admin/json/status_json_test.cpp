#include "admin/json/status_json.h"

#include <nlohmann/json.hpp>

#include "catch.h"

using namespace laneway;
using namespace laneway::service;
using nlohmann::json;

namespace {

ServiceStatus one_lane() {
  ServiceStatus status;
  status.group = "orders-webhook";
  status.uptime = milliseconds(61234);
  status.members = 2;
  LaneFacts lane;
  lane.view.topic = "orders";
  lane.view.partition = 3;
  lane.view.state = lane::State::paused;
  lane.view.lag = 120;
  lane.view.in_flight = 8;
  lane.view.workers = 16;
  lane.view.finished_beyond = 30;
  lane.view.oldest_age = seconds(80);
  lane.view.queued = 256;
  lane.view.queue_capacity = 512;
  lane.view.committed = 17;
  lane.view.delivered = 300;
  lane.view.dead_letters = 5;
  lane.view.finished = 250;
  lane.view.processed_bytes = 64000;
  lane.view.work = milliseconds(2500);
  lane.view.holds = 4;
  lane.view.pauses = 2;
  lane.view.member = 1;
  lane.view.hold_bits = lane::bit(lane::Hold::suspended);
  lane.rate = 12.34567;
  lane.dead_letter_rate = 0.50004;
  lane.detail.held_by = "suspended";
  lane.detail.hold_reasons = {{"suspended", lane::HoldCause::by_operator, "suspended"}};
  lane.detail.suspended_ms = 1767362531007;
  lane.detail.last_error = lane::LastError{17, 4, 1767362531007, "HTTP 500 \xff"};
  lane.detail.oldest =
      lane::OldestRecord{17, seconds(80), 4, lane::OldestRecord::Phase::waiting, 4, "HTTP 500 \xff"};
  status.lanes = {lane};
  return status;
}

}  // namespace

TEST_CASE("the status is one JSON object with an object for each lane") {
  auto status = one_lane();
  status.downstream = DownstreamStatus{.name = "shop:443",
                                       .state = delivery::Breaker::State::open,
                                       .last_failure = "connection refused",
                                       .out = seconds(90),
                                       .calls = {.calls = 4, .failed = 3, .kinds = {{"HTTP 500", 3}}}};
  status.totals = {7, 6, 1, 100, 2, 9};
  status.readiness.reasons = {{ReasonCode::breaker_open, "the breaker holds every lane", "", -1}};
  status.readiness.suspended = {"orders:3"};
  status.cores = 2;
  status.processor = milliseconds(1500);
  status.advice = {"lanes.workers 8 -> 12: all busy 71 % of the last 5 min (orders:3)"};
  const auto found = json::parse(admin::status_json(status, "0.1.0"));
  CHECK(found["advice"] == json(status.advice));
  CHECK(found["settings"] ==
        json::parse(R"({"workers":8,"queue":256,"memory_bytes":268435456,"drain_seconds":20.0})"));
  CHECK(found["processors"] == json::parse(R"({"count":2,"seconds":1.5})"));
  CHECK(found["version"] == "0.1.0");
  CHECK(found["group"] == "orders-webhook");
  CHECK(found["uptime_seconds"] == 61.234);
  CHECK(found["members"] == 2);
  CHECK(found["ready"] == false);
  CHECK(json::parse(admin::readiness_json(status.readiness))["suspended"] == json::parse(R"(["orders:3"])"));
  CHECK(found["reasons"] ==
        json::parse(R"([{"code":"breaker_open","text":"the breaker holds every lane"}])"));
  auto breaker = found["breaker"];
  CHECK(breaker["since"].get<std::string>().starts_with("20"));
  breaker.erase("since");
  CHECK(breaker == json::parse(R"({"downstream":"shop:443","state":"open","reason":"connection refused",
    "calls":4,"failed_calls":3,"failed_by_kind":[{"kind":"HTTP 500","calls":3}],"pace":null,
    "failures":"fails for 75 % of calls: HTTP 500 (3), of 4 calls in the last minute"})"));
  CHECK(found["rebalances"] == json::parse(R"({"assigned":7,"revoked":6,"lost":1})"));
  CHECK(found["dead_letters"] == 9);
  CHECK(found["commits"] == json::parse(R"({"succeeded":100,"failed":2})"));
  REQUIRE(found["lanes"].size() == 1);
  CHECK(found["lanes"][0] == json::parse(R"({
    "topic":"orders","partition":3,"state":"suspended","suspended":true,"held_by":"suspended","hold_reasons":[{"code":"suspended","cause":"operator","text":"suspended"}],"lag":120,"finished_beyond_commit":30,"commits_blocked":true,
    "in_flight":8,"workers":16,"queued":256,"queue_capacity":512,"waiting_retries":0,"stuck":0,
    "oldest":{"offset":17,"age_seconds":80.0,"place":"waiting","attempts":4,"failed_attempt":4,"error":"HTTP 500 \ufffd"},
    "committed":17,"delivered":300,"finished":250,"finished_bytes":64000,"work_seconds":2.5,"rate":12.346,"dead_letters":5,"dead_letter_rate":0.5,
    "last_error":{"record":"orders:3:17","attempt":4,"time":"2026-01-02T14:02:11.007Z","error":"HTTP 500 \ufffd","over":false},
    "holds":4,"pauses":2,"member":2,"suspended_since":"2026-01-02T14:02:11.007Z"})"));
}

TEST_CASE("named pools are a list, which is absent without named pools") {
  auto status = one_lane();
  CHECK_FALSE(json::parse(admin::status_json(status, "")).contains("pools"));
  PoolStatus pool;
  pool.name = "deliver";
  pool.then = "store";
  pool.helped_by = {"bulk"};
  pool.running = 3;
  pool.slots = 8;
  pool.total = 20;
  pool.queued = 4;
  pool.queue_capacity = 64;
  pool.waiting = 70;
  pool.waiting_attempts = 6;
  pool.retries = 2;
  pool.borrowed = 1;
  pool.oldest = milliseconds(1500);
  pool.rate = 1.23456;
  pool.parked = {.records = 350, .oldest = seconds(600)};
  pool.downstream = DownstreamStatus{.name = "shop:443", .last_failure = {}};
  pool.subscribers = Subscribers{.known = 40, .out = 2, .at_limit = 1, .with_parked = 3};
  pool.subscribers->worst = {{.name = "acme",
                              .state = delivery::BreakerState::half_open,
                              .running = 1,
                              .most = 4,
                              .waiting = 12,
                              .parked = {.records = 340, .oldest = seconds(500)},
                              .text = "out since 14:02:11Z"}};
  status.pools = {pool};
  status.parked_orders = {"records that were parked before 14:02:11Z come back at once"};
  CHECK(json::parse(admin::status_json(status, ""))["parked_orders"] == status.parked_orders);
  auto found = json::parse(admin::status_json(status, ""))["pools"];
  REQUIRE(found.size() == 1);
  CHECK(found[0]["breaker"]["downstream"] == "shop:443");
  found[0].erase("breaker");
  CHECK_THAT(found[0]["trouble"].get<std::string>(),
             Catch::StartsWith("2 of 40 subscribers are out; 350 records are parked"));
  found[0].erase("trouble");
  CHECK(found[0] == json::parse(R"({"name":"deliver","then":"store","helped_by":["bulk"],"running":3,
    "workers":8,"total":20,"queued":4,"queue_capacity":64,"waiting":70,"waiting_retries":6,"retries":2,"borrowed":1,"stuck":0,
    "oldest_seconds":1.5,"parked":350,"parked_oldest_seconds":600.0,"rate":1.235,
    "subscribers":{"known":40,"out":2,"at_limit":1,"with_parked":3,
    "worst":[{"name":"acme","state":"half_open","running":1,"most":4,"waiting":12,"parked":340,
    "parked_oldest_seconds":500.0,"text":"out since 14:02:11Z"}]}})"));
  status.pools[0].subscribers.reset();
  CHECK_FALSE(json::parse(admin::status_json(status, ""))["pools"][0].contains("subscribers"));
}

TEST_CASE("a lane with named pools has its queued records apart from those that wait for a pool") {
  auto status = one_lane();
  auto& view = status.lanes[0].view;
  view.queued = 533;
  view.queue_capacity = 512;
  view.pools.resize(2);
  view.pools[0].name = "acme";
  view.pools[1].name = "beta";
  view.pools[0].waiting = 500;
  view.pools[0].waiting_attempts = 3;
  status.pools.resize(2);
  for (auto& pool : status.pools) pool.downstream = DownstreamStatus{.name = "shop:443", .last_failure = {}};
  auto lane = json::parse(admin::status_json(status, ""))["lanes"][0];
  CHECK(lane["queued"] == 33);
  CHECK(lane["waiting_for_pools"] == 500);
  CHECK(lane["pools_out"].empty());
  for (auto& pool : status.pools) pool.downstream->out = seconds(3);
  lane = json::parse(admin::status_json(status, ""))["lanes"][0];
  // No record of the lane waits for the other one.
  CHECK(lane["pools_out"] == json::parse(R"([{"pool":"acme","waiting":503,
    "text":"the pool acme is out: 503 records of this lane wait"}])"));
}

TEST_CASE("a downstream that is not out has no since, and no reason") {
  auto status = one_lane();
  status.downstream = DownstreamStatus{.name = "shop:443", .last_failure = "connection refused"};
  const auto found = json::parse(admin::status_json(status, "0.1.0"));
  CHECK(found["breaker"] == json::parse(R"({"downstream":"shop:443","state":"closed","reason":"","since":null,
    "calls":0,"failed_calls":0,"failed_by_kind":[],"pace":null,"failures":""})"));
}

TEST_CASE("without a breaker its state is off, and the pace of a downstream is a number") {
  auto status = one_lane();
  status.downstream = DownstreamStatus{
      .name = "shop:443", .state = delivery::BreakerState::off, .last_failure = {}, .pace = 3.71234};
  const auto found = json::parse(admin::status_json(status, "0.1.0"))["breaker"];
  CHECK(found["state"] == "off");
  CHECK(found["pace"] == 3.712);
}

TEST_CASE("an adaptive limit is an object, which is absent without an adaptive limit") {
  auto status = one_lane();
  status.downstream.emplace().name = "shop:443";
  CHECK_FALSE(json::parse(admin::status_json(status, ""))["breaker"].contains("limit"));
  auto& limit = status.downstream->limit.emplace();
  limit.limit = limit.min = 2;
  limit.max = 64;
  limit.in_flight = 1;
  CHECK(json::parse(admin::status_json(status, ""))["breaker"]["limit"] ==
        json::parse(R"({"limit":2,"min":2,"max":64,"in_flight":1,"why":"","from":null,"to":null,
    "moved_seconds_ago":null,"words":"2 calls at once, between 2 and 64"})"));
  limit.why = "the breaker opened";
  limit.from = 5;
  limit.to = 2;
  limit.moved = SteadyClock::now() - seconds(90);
  const auto moved = json::parse(admin::status_json(status, ""))["breaker"]["limit"];
  CHECK(moved["why"] == "the breaker opened");
  CHECK(moved["from"] == 5);
  CHECK(moved["to"] == 2);
  CHECK(moved["moved_seconds_ago"] >= 90.0);
  CHECK_THAT(moved["words"].get<std::string>(), Catch::EndsWith("Z: the breaker opened"));
}

TEST_CASE("a lane reports the open transaction that it waits for, or null") {
  auto status = one_lane();
  CHECK_FALSE(json::parse(admin::status_json(status, ""))["lanes"][0].contains("open_transaction"));
  status.lanes.front().detail.open_transaction = 42;
  CHECK(json::parse(admin::status_json(status, ""))["lanes"][0]["open_transaction"] == 42);
}

TEST_CASE("a lane reports how long its partition has been silent, or null") {
  auto status = one_lane();
  CHECK_FALSE(json::parse(admin::status_json(status, ""))["lanes"][0].contains("silent_seconds"));
  status.lanes.front().view.silent = milliseconds(95500);
  CHECK(json::parse(admin::status_json(status, ""))["lanes"][0]["silent_seconds"] == 95.5);
}

TEST_CASE("an unknown or absent value is null") {
  ServiceStatus status;
  status.lanes.emplace_back();
  const auto found = json::parse(admin::status_json(status, ""));
  CHECK(found["ready"] == true);
  CHECK(found["breaker"].is_null());
  CHECK(found["advice"] == json::array());
  for (const auto* key : {"lag", "oldest", "committed", "delivered", "last_error"})
    CHECK(found["lanes"][0][key].is_null());
  // A lane whose loop does not answer still shows how old its oldest record is.
  status.lanes.front().view.oldest_age = seconds(5);
  CHECK(json::parse(admin::status_json(status, ""))["lanes"][0]["oldest"] ==
        json::parse(R"({"age_seconds":5.0})"));
}
