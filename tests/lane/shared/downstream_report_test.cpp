// What a downstream reports about its calls.
#include "captured_log.h"
#include "catch.h"
#include "lane/shared/downstream.h"

using namespace laneway;
using namespace laneway::lane;
using delivery::Breaker;

TEST_CASE("a downstream reports the failed calls of the last minute by kind, and the totals") {
  Downstream downstream("shop:443", {.breaker = {.failures = 5, .window = seconds(30), .probe = seconds(5)}});
  TimePoint now{seconds(1000)};
  CHECK_FALSE(downstream.report(now).has_worked);
  downstream.worked(99, milliseconds(1), now);
  downstream.settle(now);
  now += seconds(59);
  const std::string reason = "HTTP 500 from shop:443: no database";
  downstream.failed({.reason = reason}, now);
  auto report = downstream.report(now);
  CHECK(report.state == Breaker::State::closed);
  CHECK_FALSE(report.out_since);
  CHECK(report.has_worked);
  CHECK(report.last_failure == "HTTP 500 from shop:443: no database");
  CHECK(report.calls.calls == 100);
  CHECK(words_of(report.calls) == "fails for 1 % of calls: HTTP 500 (1)");
  report = downstream.report(now + seconds(1));  // the successes were settled a minute ago
  CHECK(report.calls.calls == 1);
  CHECK(report.totals == delivery::CallTally::Totals{99, 0, 0, 1, 0, 0});
}

TEST_CASE("a downstream reports that rejected records are kept, until enough records are done") {
  Downstream downstream("shop:443", {.breaker = {}, .most_rejections = 1});
  const TimePoint now{seconds(1000)};
  while (downstream.admits_rejection(now)) CHECK_FALSE(downstream.report(now).keeps_rejected);
  CHECK(downstream.report(now).keeps_rejected);
  downstream.done(60);
  CHECK_FALSE(downstream.report(now).keeps_rejected);
}

TEST_CASE("during an outage the downstream reports its beginning and the calls since then") {
  Downstream downstream("shop:443", {.breaker = {.failures = 3, .window = seconds(30), .probe = seconds(5)}});
  TimePoint now{seconds(1000)};
  downstream.worked(4000, milliseconds(1), now);
  const std::string reason = "HTTP 500 from shop:443";
  for (int i = 0; i < 3; ++i) downstream.failed({.reason = reason}, now += seconds(1));
  const auto report = downstream.report(now += seconds(5));
  CHECK(report.state == Breaker::State::open);
  REQUIRE(report.out_since);
  CHECK(*report.out_since > TimePoint(seconds(1000)));
  CHECK(report.calls.calls == report.calls.failed);
  CHECK(report.calls.failed > 0);
}

TEST_CASE("the log has the beginning of an outage with its effects, and its end with its duration") {
  const CapturedLog log;
  Downstream downstream("shop:443", {.breaker = {.failures = 1, .window = seconds(30), .probe = seconds(5)}});
  TimePoint now{seconds(1000)};
  const std::string reason = "HTTP 500 from shop:443";
  downstream.failed({.reason = reason}, now);
  CHECK(log.lines({"level=warn", "breaker open", "shop:443", "error=\"HTTP 500",
                   "hint=\"lanes are held and no record is given up"}) == 1);
  CHECK(log.lines({"pool="}) == 0);
  REQUIRE(downstream.admit(&reason, 1, now += seconds(90)));
  for (int i = 0; i < 100; ++i) downstream.worked(1, milliseconds(1), now);
  CHECK(log.lines({"level=info", "breaker closed", "shop:443", "why=\"calls succeed again\"",
                   "out_ms=90000"}) == 1);
  CHECK(log.lines({"breaker closed", "error="}) == 0);
}

TEST_CASE("the log of an outage of a pool or of a subscriber names the pool, and holds no lane") {
  const CapturedLog log;
  const DownstreamRules rules{.breaker = {.failures = 1, .window = seconds(30), .probe = seconds(5)},
                              .slow = Duration::zero(),
                              .most_rejections = 1};
  const TimePoint now{seconds(1000)};
  const std::string reason = "HTTP 500 from shop:443";
  Downstream of_pool("shop:443", rules, Downstream::Calls::of_pool, "acme");
  Downstream of_subscriber("send acme", rules, Downstream::Calls::of_subscriber, "send");
  for (auto* downstream : {&of_pool, &of_subscriber}) downstream->failed({.reason = reason}, now);
  CHECK(log.lines({"breaker open", "downstream=shop:443", "pool=acme", "hint=\"records of this pool wait",
                   "records that do not need this pool go on"}) == 1);
  CHECK(log.lines({"breaker open", "downstream=\"send acme\"", "pool=send",
                   "hint=\"records of this subscriber wait", "records of the other subscribers go on"}) == 1);
  while (of_pool.admits_rejection(now)) CHECK(log.lines({"flood of rejections"}) == 0);
  CHECK(log.lines({"flood of rejections", "pool=acme", "and records of this pool wait;"}) == 1);
  CHECK(log.lines({"lanes are held"}) == 0);
}
