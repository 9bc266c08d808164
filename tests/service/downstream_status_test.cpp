// The words for a downstream that fails.
#include "service/downstream_status.h"

#include "catch.h"

using namespace laneway;
using namespace laneway::service;
using delivery::Breaker;

namespace {

constexpr std::int64_t noon_ms = 1767362400000;  // 2026-01-02 14:00:00 UTC

DownstreamStatus failing_shop() {
  return {.name = "127.0.0.1:8080",
          .state = Breaker::State::open,
          .last_failure = "HTTP 500 from 127.0.0.1:8080: no database",
          .has_worked = true,
          .out = seconds(300),
          .calls = {.calls = 325, .failed = 316, .kinds = {{"HTTP 500", 312}, {"time-out", 4}}}};
}

}  // namespace

TEST_CASE("an outage is described with the failed calls, their kinds, and the time since when lanes hold") {
  CHECK(
      outage_in_words(failing_shop(), noon_ms) ==
      "the downstream 127.0.0.1:8080 fails for 97 % of calls: HTTP 500 (312), time-out (4), of 325 calls in "
      "the last minute; the lanes have been held since 13:55:00Z; no record is given up meanwhile; last "
      "failure: HTTP 500: no database");
  auto refused = failing_shop();
  refused.last_failure =
      "no connection to 127.0.0.1:8080: Failed to connect to 127.0.0.1 port 8080 after 0 ms: Couldn't "
      "connect "
      "to server";
  CHECK_THAT(outage_in_words(refused, noon_ms),
             Catch::EndsWith("; last failure: no connection: Couldn't connect to server"));
}

TEST_CASE("for an outage of less than a minute, all calls since its beginning are counted") {
  auto shop = failing_shop();
  shop.out = seconds(20);
  shop.calls = {.calls = 1, .failed = 1, .kinds = {{"HTTP 500", 1}}};
  CHECK(calls_in_words(shop) == "fails for 100 % of calls: HTTP 500 (1), of 1 call since the outage began");
}

TEST_CASE("a downstream without calls for a minute keeps its last failures") {
  auto shop = failing_shop();
  shop.calls = {};
  CHECK(outage_in_words(shop, noon_ms)
            .starts_with("the downstream 127.0.0.1:8080 failed the last call; the lanes have been held since "
                         "13:55:00Z; "));
}

TEST_CASE("the description of an outage mentions its probes, and that no call has ever succeeded") {
  auto shop = failing_shop();
  shop.state = Breaker::State::half_open;
  shop.last_failure.clear();
  CHECK(outage_in_words(shop, noon_ms)
            .ends_with("; the lanes have been held since 13:55:00Z; a few calls probe the downstream; no "
                       "record is given up "
                       "meanwhile"));
  shop.has_worked = false;
  CHECK(
      outage_in_words(shop, noon_ms)
          .ends_with("; no call has succeeded since the start: if the records are the cause, `laneway skip` "
                     "gives up a record"));
}

TEST_CASE("a downstream that answers 429 gets a pace, which is described") {
  auto shop = failing_shop();
  shop.state = Breaker::State::closed;
  shop.out.reset();
  shop.pace = 3.7;
  shop.calls = {.calls = 400, .failed = 12, .kinds = {{"HTTP 429", 12}}};
  CHECK(
      calls_in_words(shop) ==
      "fails for 3 % of calls: HTTP 429 (12), of 400 calls in the last minute; it has asked for fewer calls: "
      "about 4 records a second begin");
  shop.calls = {.calls = 400};
  CHECK(calls_in_words(shop) == "has asked for fewer calls: about 4 records a second begin");
  for (const double slow : {1.2, 0.3}) {
    shop.pace = slow;
    CHECK(calls_in_words(shop) == "has asked for fewer calls: about 1 record a second begins");
  }
}

TEST_CASE("during an outage no pace is described, because the lanes hold") {
  auto shop = failing_shop();
  const auto words = calls_in_words(shop);
  shop.pace = 256;
  CHECK(calls_in_words(shop) == words);
}

TEST_CASE("an adaptive limit is described with its range and its last change") {
  const auto now = SteadyClock::now();
  auto shop = failing_shop();
  auto& limit = shop.limit.emplace();
  limit.limit = limit.min = 1;
  limit.max = 64;
  CHECK(limit_in_words(shop, now, noon_ms) == "1 call at once, between 1 and 64");
  limit.limit = 12;  // a probe, which is no move
  limit.from = 38;
  limit.to = 24;
  limit.why = "latency rose from 12 ms to 40 ms";
  limit.moved = now - seconds(60);
  CHECK(
      limit_in_words(shop, now, noon_ms) ==
      "12 calls at once, between 1 and 64; lowered from 38 to 24 at 13:59:00Z: latency rose from 12 ms to 40 "
      "ms");
  limit.to = 40;
  CHECK_THAT(limit_in_words(shop, now, noon_ms), Catch::Contains("; raised from 38 to 40 at "));
}

TEST_CASE("if too many records are rejected, the description says that none is given up") {
  auto shop = failing_shop();
  shop.out.reset();
  shop.calls = {};
  shop.keeps_rejected = true;
  CHECK(calls_in_words(shop) ==
        "rejects far more records than it accepts, so no rejected record is given up: rejected records "
        "are tried again until records succeed (dead_letter.max_rate)");
  shop.calls = {.calls = 400, .failed = 12, .kinds = {{"HTTP 500", 12}}};
  CHECK(calls_in_words(shop).starts_with(
      "fails for 3 % of calls: HTTP 500 (12), of 400 calls in the last minute; it rejects far more "));
}

TEST_CASE("a downstream that answers most calls is described with its failures") {
  auto shop = failing_shop();
  CHECK_FALSE(out_since_ms({}, noon_ms));
  shop.state = Breaker::State::closed;
  shop.out.reset();
  shop.calls = {.calls = 400, .failed = 12, .kinds = {{"HTTP 500", 12}}};
  CHECK(calls_in_words(shop) == "fails for 3 % of calls: HTTP 500 (12), of 400 calls in the last minute");
  shop.calls = {.calls = 400};
  CHECK(calls_in_words(shop).empty());
}

TEST_CASE("without a waiting record nothing is held, so no outage is described") {
  auto shop = failing_shop();
  shop.calls = {};
  leave_out_outage(shop);
  CHECK(name_of(shop.state) == std::string("closed"));
  CHECK_FALSE(out_since_ms(shop, noon_ms));
  CHECK(calls_in_words(shop).empty());
}
