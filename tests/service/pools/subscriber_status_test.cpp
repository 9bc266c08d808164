// The subscribers of a pool in the status: which ones are in trouble, and in which order.
#include "service/pools/subscriber_status.h"

#include <map>
#include <memory>

#include "catch.h"

using namespace laneway;
using namespace laneway::service;
using delivery::BreakerState;

namespace {

constexpr std::int64_t subscribers_seen_ms = 1767362400000;  // 2026-01-02 14:00:00 UTC

/// A pool whose subscribers may run two records at once, and are out after a failure.
struct SendingPoolStatus {
  lane::KeyedLimit& wait(const std::string& name, std::uint64_t first, std::uint64_t next = 0) {
    auto& limit = kept[name] = limits.find(name);
    limit->note_waiting({}, {.first = first, .next = next});
    return *limit;
  }
  void be_busy(const std::string& name, std::uint64_t waiting) { wait(name, waiting).places.take(2); }
  void fail(const std::string& name, std::uint64_t waiting) {
    const std::string reason = "HTTP 503: no disk";
    wait(name, waiting).downstream.failed({.reason = reason}, SteadyClock::now());
  }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& one : subscribers_of(limits, subscribers_seen_ms).worst) names.push_back(one.name);
    return names;
  }

  lane::KeyedLimits limits{
      "send",
      {.breaker = {.failures = 1, .window = seconds(30), .probe = std::chrono::hours(1)}},
      {.by = {}, .rate = {}, .workers = 2}};
  std::map<std::string, std::shared_ptr<lane::KeyedLimit>> kept;
};

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE_METHOD(SendingPoolStatus, "subscribers that are out come first, then those at their limits") {
  be_busy("busy", 7);
  be_busy("busier", 900);
  be_busy("idle", 0);       // all of its places are taken, and nothing waits
  wait("quick", 5);         // its records wait for the pool, and not for the limits of their own
  wait("repeating", 0, 9);  // these records wait for their next attempt
  fail("dead", 0);
  fail("deader", 3);
  const auto found = subscribers_of(limits, subscribers_seen_ms);
  CHECK(found.known == 7);
  CHECK(found.out == 2);
  CHECK(found.at_limit == 2);
  REQUIRE(names() == Names{"deader", "dead", "busier", "busy"});
  CHECK(found.worst[0].state == BreakerState::open);
  CHECK(found.worst[0].waiting == 3);
  CHECK_THAT(found.worst[0].text, Catch::StartsWith("out since "));
  CHECK_THAT(found.worst[0].text, Catch::Contains("; fails for 100 % of calls: HTTP 503 (1)"));
  CHECK_THAT(found.worst[0].text, Catch::EndsWith("; last failure: HTTP 503: no disk"));
  CHECK(found.worst[2].state == BreakerState::closed);
  CHECK(found.worst[2].running == 2);
  CHECK(found.worst[2].most == 2);
  CHECK(found.worst[2].waiting == 900);
  CHECK(found.worst[2].text == "runs as many records at once as it may");
}

TEST_CASE_METHOD(SendingPoolStatus, "the list of subscribers in trouble is bounded, and so are their names") {
  for (int i = 0; i < 40; ++i) be_busy("busy " + std::to_string(10 + i), 5);
  fail(std::string(5000, 'x'), 1);
  const auto found = subscribers_of(limits, subscribers_seen_ms);
  CHECK(found.at_limit == 40);
  REQUIRE(found.worst.size() == Subscribers::max_worst);
  CHECK(found.worst[0].name.size() <= SubscriberStatus::max_name + 4);
  CHECK(found.worst[1].name == "busy 10");
  CHECK(found.worst[9].name == "busy 18");
}

TEST_CASE_METHOD(SendingPoolStatus, "a subscriber whose rate its records wait for is at its limit") {
  limits.change({.breaker = {.failures = 0}}, {.by = {}, .rate = {5, 0, seconds(1)}, .workers = 0},
                SteadyClock::now());
  wait("slow", 1);
  const auto found = subscribers_of(limits, subscribers_seen_ms);
  REQUIRE(found.worst.size() == 1);
  CHECK(found.worst[0].text == "is at its rate");
  CHECK(found.worst[0].most == 0);
}

TEST_CASE_METHOD(SendingPoolStatus,
                 "a subscriber is in trouble while its records are parked, also if it works") {
  using std::chrono::minutes;
  const auto now = SteadyClock::now();
  lane::ParkedRecords parked;
  for (int i = 0; i < 12; ++i) parked.add("send", "recovered", now - minutes(5), minutes(10), now);
  parked.add("send", "dead", now - minutes(40), minutes(10), now);
  parked.add("send", "unknown", now, minutes(10), now);
  wait("recovered", 0);
  wait("quick", 5);
  fail("dead", 1);
  be_busy("busy", 7);
  const auto found = subscribers_of(limits, subscribers_seen_ms, parked.of_pool("send", now), now);
  CHECK(found.out == 1);
  CHECK(found.at_limit == 1);
  CHECK(found.with_parked == 1);
  REQUIRE(found.worst.size() == 3);
  CHECK(found.worst[0].name == "dead");
  CHECK(found.worst[0].parked.records == 1);
  CHECK(found.worst[0].parked.oldest == minutes(40));
  CHECK_THAT(found.worst[0].text,
             Catch::Contains("; 1 record is parked, and the oldest has waited since 13:20:00Z"));
  CHECK(found.worst[1].name == "recovered");
  CHECK(found.worst[1].parked.records == 12);
  CHECK(found.worst[1].text == "12 records are parked, and the oldest has waited since 13:55:00Z");
  CHECK(found.worst[2].name == "busy");
}

TEST_CASE_METHOD(SendingPoolStatus, "the records that share a subscriber have a name in the status") {
  fail("", 1);
  CHECK(names() == Names{"(others)"});
}

TEST_CASE_METHOD(SendingPoolStatus, "parked records of subscribers that are not counted apart have a row") {
  const auto now = SteadyClock::now();
  lane::ParkedRecords parked;
  parked.add("send", std::string(lane::ParkedRecords::others), now, std::chrono::minutes(10), now);
  for (int i = 0; i < 12; ++i) fail("dead-" + std::to_string(i), 1);
  const auto found = subscribers_of(limits, subscribers_seen_ms, parked.of_pool("send", now), now);
  REQUIRE(found.worst.size() == Subscribers::max_worst);
  CHECK(found.worst.back().name == "(others)");
  CHECK(found.worst.back().parked.records == 1);
}
