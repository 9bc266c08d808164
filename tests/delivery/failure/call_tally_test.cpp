// What became of the calls of the last minute, and how that is said.
#include "delivery/failure/call_tally.h"

#include "catch.h"

using namespace laneway;
using namespace laneway::delivery;

namespace {

constexpr TimePoint tally_start{seconds(1000)};

void fail_often(CallTally& tally, TimePoint now, std::string_view kind, int times) {
  for (int i = 0; i < times; ++i) tally.failed(now, kind);
}

}  // namespace

TEST_CASE("a text has the number and the kinds of failed calls, the most frequent kind first") {
  CallTally tally;
  CHECK(words_of(tally.report(tally_start)) == "fails for no call");
  tally.succeeded(tally_start, 9);
  CHECK(words_of(tally.report(tally_start)) == "fails for no call");
  fail_often(tally, tally_start, "time-out", 4);
  fail_often(tally, tally_start + seconds(1), "HTTP 500", 312);
  const auto report = tally.report(tally_start + seconds(1));
  CHECK(report.calls == 325);
  CHECK(report.failed == 316);
  CHECK(words_of(report) == "fails for 97 % of calls: HTTP 500 (312), time-out (4)");
}

TEST_CASE("100 % means that all calls failed, and 0 % that none failed") {
  CHECK(CallReport{.calls = 10000, .failed = 9999}.failed_percent() == 99);
  CHECK(CallReport{.calls = 10000, .failed = 10000}.failed_percent() == 100);
  CHECK(CallReport{.calls = 10000, .failed = 1}.failed_percent() == 1);
  CHECK(CallReport{.calls = 10000}.failed_percent() == 0);
  CHECK(CallReport{}.failed_percent() == 0);
  CHECK(CallReport{.calls = 8, .failed = 3}.failed_percent() == 38);
}

TEST_CASE("one failure in ten thousand calls is less than 1 %") {
  CallTally tally;
  tally.succeeded(tally_start, 98);
  tally.failed(tally_start, "HTTP 503");
  CHECK(words_of(tally.report(tally_start)) == "fails for 1 % of calls: HTTP 503 (1)");
  tally.succeeded(tally_start, 10083);
  CHECK(words_of(tally.report(tally_start)) == "fails for less than 1 % of calls: HTTP 503 (1)");
}

TEST_CASE("a call is forgotten after a minute, also after a minute without calls") {
  CallTally tally;
  tally.succeeded(tally_start, 5);
  tally.failed(tally_start, "HTTP 500");
  CHECK(tally.report(tally_start + seconds(59)).calls == 6);
  CHECK(tally.report(tally_start + seconds(60)).calls == 0);
  tally.failed(tally_start + seconds(1000), "HTTP 503");
  const auto report = tally.report(tally_start + seconds(1000));
  CHECK(report.calls == 1);
  CHECK(words_of(report) == "fails for 100 % of calls: HTTP 503 (1)");
  // A second of another minute that has the same place begins anew.
  tally.failed(tally_start + seconds(1061), "HTTP 503");
  CHECK(tally.report(tally_start + seconds(1061)).calls == 1);
}

TEST_CASE("for an outage that began within the minute, earlier successes are left out") {
  CallTally tally;
  tally.succeeded(tally_start, 24000);
  const auto begun = tally_start + milliseconds(2500);
  tally.succeeded(begun - milliseconds(400), 400);
  tally.failed(begun, "HTTP 500");
  fail_often(tally, begun + seconds(1), "HTTP 500", 18);
  tally.succeeded(begun + seconds(2), 1);
  const auto report = tally.report(begun + seconds(2), begun);
  CHECK(report.calls == 20);
  CHECK(words_of(report) == "fails for 95 % of calls: HTTP 500 (19)");
  CHECK(tally.report(begun + seconds(2)).calls == 24420);
  CHECK(tally.report(begun + seconds(200), begun).calls == 0);
}

TEST_CASE("eight kinds are counted separately, and a kind that has ended frees its place") {
  CallTally tally;
  for (int kind = 0; kind < 10; ++kind)
    fail_often(tally, tally_start, "kind " + std::to_string(kind), 20 - kind);
  auto report = tally.report(tally_start);
  REQUIRE(report.kinds.size() == CallTally::most_kinds + 1);
  CHECK(report.kinds[0].name == "other");  // the last two
  CHECK(report.kinds[0].calls == 12 + 11);
  CHECK(report.kinds[1].name == "kind 0");
  CHECK(report.failed == 155);
  tally.failed(tally_start + seconds(60), "HTTP 500");
  report = tally.report(tally_start + seconds(60));
  REQUIRE(report.kinds.size() == 1);
  CHECK(report.kinds[0].name == "HTTP 500");
}

TEST_CASE("the kind of a failure is its reason without the parts that differ from call to call") {
  const std::string_view shop = "shop:443";
  CHECK(failure_kind("HTTP 500 from shop:443: no database", shop) == "HTTP 500");
  CHECK(failure_kind("HTTP 500 from shop:443", shop) == "HTTP 500");
  CHECK(failure_kind("HTTP 404 from shop:443; check the path in handler.http.url", shop) == "HTTP 404");
  CHECK(failure_kind("the idle connection to shop:443 was closed before an answer", shop) ==
        "the idle connection was closed before an answer");
  CHECK(failure_kind("no connection to shop:443: Connection refused", shop) == "no connection");
  CHECK(failure_kind("no connection to shop:443 in time: timed out", shop) == "no connection in time");
  CHECK(failure_kind("the database is down", "") == "the database is down");
  CHECK(failure_kind(std::string(500, 'x'), shop).size() == 60);
  CHECK(failure_kind("the program ended with exit status 2 before it answered, without reading the record",
                     "exec") == "the program ended with exit status 2 before it answered");
  CHECK(failure_kind("", shop).empty());
}

TEST_CASE("the totals have few outcomes and never decrease") {
  CallTally tally;
  tally.succeeded(tally_start, 7);
  for (const auto* kind : {"HTTP 307", "HTTP 401", "HTTP 429", "HTTP 500", "reset", ""})
    tally.failed(tally_start, kind);
  tally.failed(tally_start, timeout_kind);
  tally.failed(tally_start, panic_kind);
  tally.succeeded(tally_start + seconds(1000), 1);
  CHECK(tally.totals() == CallTally::Totals{8, 1, 2, 1, 1, 3});
}
