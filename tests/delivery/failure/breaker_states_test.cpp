// What the breaker remembers, and what it forgets, from one state to the next.
#include <fstream>
#include <sstream>
#include <string>

#include "catch.h"
#include "delivery/failure/breaker.h"
#include "folders.h"
#include "telemetry/metric_table.h"

using namespace laneway;
using namespace laneway::delivery;

namespace {

const TimePoint noon = TimePoint{} + std::chrono::hours(12);
constexpr Duration probe_time = seconds(5);
const BreakerRules usual_rules{5, seconds(30), probe_time};

/// Calls of so many other records fail.
void others_fail(Breaker& breaker, TimePoint now, std::uint32_t records) {
  static RecordId record = 1'000'000;
  for (std::uint32_t i = 0; i < records; ++i) breaker.failed(now, {++record, false});
}

Breaker open_at_noon() {
  Breaker breaker(usual_rules);
  others_fail(breaker, noon, usual_rules.failures);
  REQUIRE(breaker.state() == BreakerState::open);
  return breaker;
}

/// As many probes have worked, and none runs.
Breaker half_open_after(std::uint32_t probes) {
  auto breaker = open_at_noon();
  for (std::uint32_t i = 0; i < probes; ++i) {
    breaker.begin(noon + probe_time, 1);
    breaker.succeeded(noon + probe_time, 1);
  }
  REQUIRE(breaker.state() == BreakerState::half_open);
  return breaker;
}

/// Records fail and work by turns.
void half_fail(Breaker& breaker, TimePoint now, int pairs) {
  for (int i = 0; i < pairs; ++i) {
    breaker.succeeded(now, 1);
    others_fail(breaker, now, 1);
  }
}

}  // namespace

TEST_CASE("rules under which the breaker never opens end its doubt") {
  Breaker breaker(usual_rules);
  others_fail(breaker, noon, 1);
  REQUIRE(breaker.in_doubt(CallWindow::nobody));
  breaker.change({0, seconds(30), probe_time}, noon);
  CHECK_FALSE(breaker.in_doubt(CallWindow::nobody));
}

TEST_CASE("a changed length of the window applies to earlier failures, too") {
  for (const auto length : {seconds(30), seconds(5)}) {
    Breaker breaker({5, seconds(30), probe_time});
    half_fail(breaker, noon, 28);
    breaker.change({5, length, probe_time}, noon);
    half_fail(breaker, noon + seconds(20), 2);
    CHECK((breaker.state() == BreakerState::closed) == (length == seconds(5)));
  }
}

TEST_CASE("running calls take their part of a half-open breaker's room") {
  auto breaker = half_open_after(3);
  const auto now = noon + probe_time;
  CHECK(breaker.room(now) == 4);
  breaker.begin(now, 3);
  CHECK(breaker.room(now) == 1);
  breaker.ended(2);
  CHECK(breaker.room(now) == 3);
}

TEST_CASE("a call that hangs since before the breaker reopened takes no room from later probes") {
  auto breaker = open_at_noon();
  auto now = noon + probe_time;
  breaker.begin(now, 1);  // hangs
  now += probe_time;
  breaker.begin(now, 1);
  others_fail(breaker, now, 1);
  REQUIRE(breaker.state() == BreakerState::open);
  now += probe_time;
  breaker.begin(now, 1);
  breaker.succeeded(now, 1);
  CHECK(breaker.room(now) == 2);
}

TEST_CASE("a probe's success is forgotten when the breaker opens again") {
  auto breaker = half_open_after(1);
  auto now = noon + probe_time;
  others_fail(breaker, now, 5);
  REQUIRE(breaker.state() == BreakerState::open);
  now += probe_time;
  breaker.begin(now, 1);
  breaker.failed(now, {1, true});
  CHECK(breaker.state() == BreakerState::open);
}

TEST_CASE("calls that began before the breaker opened do not close it when they succeed") {
  auto breaker = open_at_noon();
  breaker.succeeded(noon, 1000);
  CHECK(breaker.state() == BreakerState::open);
  CHECK(breaker.room(noon + probe_time - seconds(1)) == 0);
}

TEST_CASE("a failed probe can ask for a longer rest") {
  auto breaker = open_at_noon();
  const auto now = noon + probe_time;
  breaker.begin(now, 1);
  breaker.failed(now, {1, false, seconds(40)});
  REQUIRE(breaker.state() == BreakerState::open);
  CHECK(breaker.room(now + seconds(39)) == 0);
  CHECK(breaker.room(now + seconds(40)) == 1);
}

TEST_CASE("a record that has failed before does not open the breaker, also under stricter rules") {
  Breaker breaker(usual_rules);
  others_fail(breaker, noon, 4);
  breaker.change({4, seconds(30), probe_time}, noon);
  breaker.failed(noon, {1, true});
  CHECK(breaker.state() == BreakerState::closed);
  breaker.failed(noon, {1, false});
  CHECK(breaker.state() == BreakerState::open);
}

TEST_CASE("half of sixty records or more open the breaker, and never fewer failures than the rules ask for") {
  Breaker breaker(usual_rules);
  half_fail(breaker, noon, 29);
  CHECK(breaker.state() == BreakerState::closed);
  half_fail(breaker, noon, 1);
  CHECK(breaker.state() == BreakerState::half_open);
  Breaker patient({31, seconds(30), probe_time});
  half_fail(patient, noon, 30);
  CHECK(patient.state() == BreakerState::closed);
  half_fail(patient, noon, 1);
  CHECK(patient.state() == BreakerState::half_open);
}

TEST_CASE("the last 32 outages are remembered, and the downstream counts as out before them") {
  Breaker breaker({1, seconds(30), probe_time});
  const auto begun = [](int outage) { return noon + std::chrono::minutes(10 * outage); };
  for (int outage = 1; outage <= 40; ++outage) {
    const auto now = begun(outage);
    while (breaker.state() == BreakerState::closed) others_fail(breaker, now, 1);
    breaker.begin(now + probe_time, 1);
    breaker.succeeded(now + probe_time, 1000);
    REQUIRE(breaker.state() == BreakerState::closed);
    CHECK(breaker.was_out(noon) == (outage >= 32));
  }
  CHECK(breaker.outages() == 40);
  CHECK(breaker.was_out(begun(8) + seconds(60)));
  CHECK_FALSE(breaker.was_out(begun(9) + seconds(60)));
  CHECK(breaker.was_out(begun(9) + seconds(1)));
}

TEST_CASE("an outage begins with the row of failures that shows it, not with an earlier failure") {
  Breaker breaker(usual_rules);
  others_fail(breaker, noon, 1);
  breaker.succeeded(noon, 1000);
  others_fail(breaker, noon, 1);
  breaker.succeeded(noon, 1);
  others_fail(breaker, noon + seconds(2), 30);
  REQUIRE(breaker.state() == BreakerState::open);
  CHECK(breaker.out_since() == noon + seconds(2));
  CHECK_FALSE(breaker.was_out(noon));
}

TEST_CASE("if records fail now and then and succeed later, a longer row opens the breaker") {
  Breaker breaker(usual_rules);
  breaker.succeeded(noon, 200);
  breaker.recovered(100);
  others_fail(breaker, noon, breaker.beyond_chance() - 1);
  CHECK(breaker.state() == BreakerState::closed);
  others_fail(breaker, noon, 1);
  CHECK(breaker.state() == BreakerState::open);
}

TEST_CASE("a request for a rest shorter than the usual one changes nothing") {
  Breaker breaker({1, seconds(30), probe_time});
  while (breaker.state() == BreakerState::closed) breaker.failed(noon, {1, false, seconds(1)});
  CHECK(breaker.room(noon + seconds(4)) == 0);
  CHECK(breaker.room(noon + probe_time) == 1);
}

TEST_CASE("a breaker that goes to half open directly has room for sixteen calls, whatever hangs") {
  auto breaker = half_open_after(1);
  auto now = noon + probe_time;
  for (int i = 0; i < 200; ++i) {
    others_fail(breaker, now, 3);
    breaker.succeeded(now, 2);
  }
  REQUIRE(breaker.state() == BreakerState::half_open);
  REQUIRE(breaker.room(now) > 150);
  breaker.begin(now, 150);  // nearly all of them hang
  now += seconds(60);
  breaker.succeeded(now, 1);
  REQUIRE(breaker.state() == BreakerState::closed);
  half_fail(breaker, now, 30);
  REQUIRE(breaker.state() == BreakerState::half_open);
  CHECK(breaker.room(now) == 16);
}

TEST_CASE("a breaker that goes to half open directly closes after five seconds without a new failure") {
  Breaker breaker(usual_rules);
  half_fail(breaker, noon, 30);
  REQUIRE(breaker.state() == BreakerState::half_open);
  breaker.begin(noon, 1);
  breaker.succeeded(noon, 1);
  breaker.look(noon + seconds(4), 0);
  CHECK(breaker.state() == BreakerState::half_open);
  breaker.look(noon + seconds(5), 0);
  CHECK(breaker.state() == BreakerState::closed);
}

TEST_CASE("a breaker that goes to half open directly closes only after a new success") {
  auto breaker = half_open_after(1);
  breaker.succeeded(noon + probe_time, 1000);
  REQUIRE(breaker.state() == BreakerState::closed);
  const auto now = noon + seconds(20);
  half_fail(breaker, now, 30);
  REQUIRE(breaker.state() == BreakerState::half_open);
  breaker.look(now + seconds(5), 0);
  CHECK(breaker.state() == BreakerState::half_open);
  breaker.succeeded(now + seconds(5), 1);
  breaker.look(now + seconds(5), 0);
  CHECK(breaker.state() == BreakerState::closed);
}

TEST_CASE("expected failures do not open the breaker") {
  Breaker breaker(usual_rules);
  for (int i = 0; i < 1000; ++i) breaker.failed_as_expected(noon, noon);
  CHECK(breaker.state() == BreakerState::closed);
  CHECK_FALSE(breaker.in_doubt(1));
}

TEST_CASE("an expected failure of a call from before the probe neither ends the probe nor closes anything") {
  auto breaker = open_at_noon();
  const auto now = noon + probe_time;
  breaker.begin(now, 1);
  for (int i = 0; i < 10; ++i) breaker.failed_as_expected(noon - seconds(1), now + seconds(1));
  CHECK(breaker.state() == BreakerState::half_open);
  breaker.failed_as_expected(now, now + seconds(2));
  CHECK(breaker.state() == BreakerState::open);
}

TEST_CASE("an open breaker closes if all records to probe with are expected to fail") {
  auto breaker = open_at_noon();
  auto now = noon;
  const auto probe = [&] {
    now += probe_time;
    REQUIRE(breaker.room(now) == 1);
    breaker.begin(now, 1);
  };
  probe();
  breaker.failed_as_expected(now, now);
  CHECK(breaker.state() == BreakerState::open);
  probe();
  breaker.failed(now, {7, true});  // a record that only this outage has shown to fail
  CHECK(breaker.state() == BreakerState::open);
  const auto outages = breaker.outages();
  for (int i = 0; i < 2; ++i) {
    CHECK(breaker.state() == BreakerState::open);
    probe();
    breaker.failed_as_expected(now, now);
  }
  CHECK(breaker.state() == BreakerState::closed);
  CHECK(breaker.outages() != outages);  // a record that failed in it may show the next outage
}

TEST_CASE("the page and the metric call the breaker's states what the table calls them") {
  std::ifstream file(source_folder() + "/lib/admin/page/dom.js");
  std::stringstream page;
  page << file.rdbuf();
  const std::string help(telemetry::metric("breaker_state").help);
  for (const auto& row : breaker_states) {
    INFO(row.code);
    CHECK(find_breaker_state(row.code) == &row);
    CHECK(page.str().find("\n  " + std::string(row.code) + ": {words: \"" + row.words + "\"") !=
          std::string::npos);
    if (row.state == BreakerState::off) continue;
    CHECK(help.find(std::to_string(row.number) + ": " + row.words + ", ") != std::string::npos);
  }
  CHECK(find_breaker_state("half open") == nullptr);
}
