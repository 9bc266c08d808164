#include "delivery/failure/breaker.h"

#include <rapidcheck.h>

#include "catch.h"

using namespace laneway;
using namespace laneway::delivery;
using State = Breaker::State;

namespace {

const TimePoint start = TimePoint{} + std::chrono::hours(1);

/// Failures of so many records, each another one.
void fail(Breaker& breaker, TimePoint now, std::uint32_t records) {
  static RecordId record = 0;
  for (std::uint32_t i = 0; i < records; ++i) breaker.failed(now, {++record, false});
}

Breaker opened(BreakerRules rules = {5, seconds(30), seconds(5)}) {
  Breaker breaker(rules);
  fail(breaker, start, rules.failures);
  return breaker;
}

}  // namespace

TEST_CASE("the breaker opens when enough records in a row fail, and a success starts over") {
  Breaker breaker({5, seconds(30), seconds(5)});
  fail(breaker, start, 4);
  breaker.succeeded(start, 10000);
  fail(breaker, start, 4);
  CHECK(breaker.state() == State::closed);
  CHECK(breaker.room(start) == Breaker::unlimited);
  fail(breaker, start, 1);
  CHECK(breaker.state() == State::open);
  CHECK(breaker.room(start) == 0);
}

TEST_CASE("one record that fails again and again does not open the breaker") {
  Breaker breaker({5, seconds(30), seconds(5)});
  for (int i = 0; i < 1000; ++i) breaker.failed(start, {7, i > 0});
  CHECK(breaker.state() == State::closed);
}

TEST_CASE("on a quiet stream, failures within an hour form a row") {
  Breaker breaker({5, seconds(30), seconds(5)});
  for (int i = 0; i < 5; ++i) fail(breaker, start + std::chrono::minutes(10 * i), 1);
  CHECK(breaker.state() == State::open);
}

TEST_CASE("beside many other calls, a row opens the breaker after 1.5 seconds, or when fewer calls run") {
  Breaker breaker({5, seconds(30), seconds(5)});
  RecordId record = 0;
  for (int i = 0; i < 20; ++i) breaker.failed(start + seconds(i / 10), {++record, false, {}, 30});
  CHECK(breaker.state() == State::closed);
  SECTION("another failure comes after that time") {
    breaker.failed(start + milliseconds(1499), {++record, false, {}, 30});
    CHECK(breaker.state() == State::closed);
    breaker.failed(start + milliseconds(1500), {++record, false, {}, 30});
  }
  SECTION("that time passes without another failure") {
    breaker.look(start + milliseconds(1499), 30);
    CHECK(breaker.state() == State::closed);
    breaker.look(start + milliseconds(1500), 30);
  }
  SECTION("a failure comes while fewer calls run") {
    breaker.failed(start + seconds(1), {++record, false, {}, 21});
    CHECK(breaker.state() == State::closed);
    breaker.failed(start + seconds(1), {++record, false, {}, 21});
  }
  SECTION("fewer calls run") {
    breaker.look(start + seconds(1), 20);
    CHECK(breaker.state() == State::closed);
    breaker.look(start + seconds(1), 19);
  }
  CHECK(breaker.state() == State::open);
  CHECK(breaker.out_since() == start);
}

TEST_CASE("a success ends the wait of a row, and leaves unclear what the row showed") {
  Breaker breaker({5, seconds(30), seconds(5)});
  RecordId record = 0;
  for (int i = 0; i < 10; ++i) breaker.failed(start, {++record, false, {}, 30});
  CHECK_FALSE(breaker.in_unclear_row(start));
  breaker.succeeded(start + seconds(1), 1000);
  CHECK(breaker.in_unclear_row(start));
  CHECK(breaker.in_unclear_row(start + seconds(1)));
  CHECK_FALSE(breaker.in_unclear_row(start - milliseconds(1)));
  CHECK_FALSE(breaker.in_unclear_row(start + milliseconds(1001)));
  breaker.look(start + seconds(3), 0);
  for (int i = 0; i < 4; ++i) breaker.failed(start + seconds(4), {++record, false, {}, 0});
  CHECK(breaker.state() == State::closed);
}

TEST_CASE("a row of 256 failures opens the breaker whatever else runs, and the outage began with the first") {
  Breaker breaker({5, seconds(30), seconds(5)});
  for (RecordId record = 1; record <= 255; ++record)
    breaker.failed(start + milliseconds(record), {record, false, {}, 1000});
  CHECK(breaker.state() == State::closed);
  CHECK(breaker.in_waiting_row(start + milliseconds(1)));
  CHECK_FALSE(breaker.was_out(start + milliseconds(1)));
  breaker.failed(start + milliseconds(256), {256, false, {}, 1000});
  CHECK(breaker.state() == State::open);
  CHECK(breaker.out_since() == start + milliseconds(1));
}

TEST_CASE("enough failures without a row half-open the breaker, whatever else runs") {
  Breaker breaker({5, seconds(30), seconds(5)});
  RecordId record = 0;
  for (int i = 0; i < 60 && breaker.state() == State::closed; ++i) {
    if (i % 5 == 0) breaker.succeeded(start, 1);
    breaker.failed(start, {++record, false, {}, 1000});
  }
  CHECK(breaker.state() == State::half_open);
}

TEST_CASE("if a third of the records usually fail, a longer row opens the breaker") {
  Breaker breaker({5, seconds(30), seconds(5)});
  for (int i = 0; i < 100; ++i) {
    breaker.succeeded(start, 2);
    fail(breaker, start, 1);
  }
  fail(breaker, start, 10);
  CHECK(breaker.state() == State::closed);
  fail(breaker, start, 20);
  CHECK(breaker.state() == State::open);
}

TEST_CASE("the breaker is half open when half of many records fail, and open when all fail") {
  Breaker breaker({5, seconds(30), seconds(5)});
  breaker.succeeded(start, 1000);
  for (int i = 0; i < 40; ++i) {
    breaker.succeeded(start, 1);
    fail(breaker, start, 1);
  }
  CHECK(breaker.state() == State::closed);
  for (int i = 0; i < 300 && breaker.state() == State::closed; ++i) {
    fail(breaker, start, 2);
    breaker.succeeded(start, 1);
  }
  CHECK(breaker.state() == State::half_open);
  CHECK(breaker.room(start) > 10);
  fail(breaker, start, 70);
  CHECK(breaker.state() == State::open);
}

TEST_CASE("the breaker is half open when three quarters of the last 32 records fail") {
  Breaker breaker({5, seconds(30), seconds(5)});
  breaker.succeeded(start, 1000);
  for (int i = 0; i < 7; ++i) {
    fail(breaker, start + seconds(i), 3);
    breaker.succeeded(start + seconds(i), 1);
  }
  CHECK(breaker.most_fail());
  fail(breaker, start + seconds(7), 2);
  CHECK(breaker.state() == State::closed);
  fail(breaker, start + seconds(7), 1);
  CHECK(breaker.state() == State::half_open);
  CHECK(breaker.out_since() == start);
}

TEST_CASE("most records fail as long as half of the last 32 have failed") {
  Breaker breaker({64, seconds(30), seconds(5)});
  fail(breaker, start, 16);
  CHECK(breaker.in_doubt(CallWindow::nobody));
  breaker.succeeded(start, 16);
  CHECK(breaker.most_fail());
  CHECK(breaker.in_doubt(CallWindow::nobody));
  breaker.succeeded(start, 1);
  CHECK_FALSE(breaker.most_fail());
  CHECK_FALSE(breaker.in_doubt(CallWindow::nobody));
}

TEST_CASE("old failures are forgotten, also on a quiet stream") {
  Breaker breaker({5, seconds(30), seconds(5)});
  for (int i = 0; i < 100; ++i) {
    breaker.succeeded(start, 2);
    fail(breaker, start, 1);
    breaker.recovered(1);
  }
  CHECK(breaker.beyond_chance() > 10);
  const auto later = start + std::chrono::hours(3);
  for (auto now = start; now < later; now += seconds(1)) breaker.look(now, 0);
  CHECK(breaker.beyond_chance() < 5);
  fail(breaker, later, 5);
  CHECK(breaker.state() == State::open);
}

TEST_CASE("a small share of failures does not open the breaker") {
  Breaker breaker({5, seconds(30), seconds(5)});
  for (int i = 0; i < 10000; ++i) {
    breaker.succeeded(start, 2);
    fail(breaker, start, 1);
  }
  CHECK(breaker.state() == State::closed);
}

TEST_CASE("one probe at a time checks the downstream, and a failed probe opens the breaker again") {
  auto breaker = opened();
  CHECK(breaker.room(start + seconds(4)) == 0);
  const auto now = start + seconds(5);
  REQUIRE(breaker.room(now) == 1);
  breaker.begin(now, 1);
  CHECK(breaker.state() == State::half_open);
  CHECK(breaker.room(now) == 0);
  fail(breaker, now, 1);
  CHECK(breaker.state() == State::open);
  CHECK(breaker.room(now + seconds(4)) == 0);
  CHECK(breaker.room(now + seconds(5)) == 1);
}

TEST_CASE("each successful probe lets one more call through, until the breaker closes") {
  auto breaker = opened();
  const auto now = start + seconds(5);
  for (std::uint32_t allowed = 1; allowed < 32; ++allowed) {
    REQUIRE(breaker.room(now) == allowed);
    breaker.begin(now, 1);
    breaker.succeeded(now, 1);
  }
  CHECK(breaker.state() == State::closed);
  CHECK(breaker.room(now) == Breaker::unlimited);
}

TEST_CASE("a downstream that answers a third of the calls is used as far as it works") {
  auto breaker = opened();
  auto now = start + seconds(5);
  breaker.begin(now, 1);
  breaker.succeeded(now, 1);
  for (int i = 0; i < 1000; ++i) {
    REQUIRE(breaker.room(now) > 0);
    breaker.begin(now, 1);
    i % 3 == 0 ? breaker.succeeded(now, 1) : fail(breaker, now, 1);
  }
  CHECK(breaker.state() == State::half_open);
  CHECK(breaker.room(now) > 100);
}

TEST_CASE("a poison record among the probes does not open the breaker again") {
  auto breaker = opened();
  const auto now = start + seconds(5);
  breaker.begin(now, 1);
  breaker.succeeded(now, 1);
  for (int i = 0; i < 100; ++i) {
    breaker.begin(now, 1);
    breaker.failed(now, {99999999, true});
    CHECK(breaker.state() == State::half_open);
  }
}

TEST_CASE("a probe that hangs or was given back does not keep the breaker open forever") {
  auto hangs = opened();
  const auto now = start + seconds(5);
  hangs.begin(now, 1);
  CHECK(hangs.room(now + seconds(4)) == 0);
  CHECK(hangs.room(now + seconds(5)) == 1);
  auto given_back = opened();
  given_back.begin(now, 1);
  given_back.ended(1);
  CHECK(given_back.room(now) == 1);
}

TEST_CASE("the downstream rests for as long as it asks for") {
  Breaker breaker({1, seconds(30), seconds(5)});
  for (RecordId record = 1; breaker.state() == State::closed; ++record)
    breaker.failed(start, {record, false, seconds(20)});
  CHECK(breaker.room(start + seconds(19)) == 0);
  CHECK(breaker.room(start + seconds(20)) == 1);
}

TEST_CASE("an outage is remembered from the first failure of its onset until the breaker closes") {
  Breaker breaker({5, seconds(30), seconds(5)});
  const auto onset = start + seconds(1);
  for (int i = 0; i < 5; ++i) fail(breaker, onset + milliseconds(i), 1);
  REQUIRE(breaker.state() == State::open);
  CHECK_FALSE(breaker.was_out(onset - milliseconds(1)));
  CHECK(breaker.was_out(onset));
  const auto back = onset + seconds(10);
  while (breaker.state() != State::closed) {
    breaker.begin(back, 1);
    breaker.succeeded(back, 1);
  }
  CHECK(breaker.was_out(back));
  CHECK_FALSE(breaker.was_out(back + milliseconds(1)));
}

TEST_CASE("records that fail now and then and succeed later make a row of failures less significant") {
  Breaker breaker({5, seconds(30), seconds(5)});
  breaker.succeeded(start, 200);
  CHECK(breaker.beyond_chance() == 1);
  breaker.recovered(100);  // a third of all calls failed
  CHECK(breaker.beyond_chance() > 15);
  CHECK(breaker.beyond_chance() < 25);
}

TEST_CASE("an open breaker always admits a probe when its time has come") {
  REQUIRE(rc::check("a breaker never locks itself", [](const std::vector<std::uint8_t>& actions) {
    Breaker breaker({3, seconds(30), seconds(5)});
    auto now = start;
    for (const auto action : actions) {
      now += milliseconds(100 * (action / 8));
      if (action % 4 == 0 && breaker.room(now) > 0) breaker.begin(now, 1);
      if (action % 4 == 1) breaker.succeeded(now, 1);
      if (action % 4 == 2) breaker.failed(now, {RecordId{action} / 4 + 1, action % 8 == 2});
      if (action % 4 == 3) breaker.ended(1);
    }
    RC_ASSERT(breaker.room(now + seconds(5)) > 0);
  }));
}

TEST_CASE("changed rules take effect at once, whatever the state of the breaker") {
  auto breaker = opened();
  breaker.change({5, seconds(30), seconds(1)}, start);
  CHECK(breaker.room(start + milliseconds(999)) == 0);
  CHECK(breaker.room(start + seconds(1)) == 1);
  breaker.change({5, seconds(30), seconds(60)}, start);  // what was promised sooner stays
  CHECK(breaker.room(start + seconds(1)) == 1);
  breaker.change({0, seconds(30), seconds(60)}, start);
  CHECK(breaker.state() == State::closed);
  fail(breaker, start, 100);
  CHECK(breaker.state() == State::closed);
}

TEST_CASE("if no number of failures opens the breaker, no failure causes doubt") {
  Breaker breaker({0, seconds(30), seconds(5)});
  fail(breaker, start, 3);
  breaker.succeeded(start, 1);
  breaker.recovered(100);
  fail(breaker, start, 3);
  CHECK_FALSE(breaker.in_doubt(CallWindow::nobody));
  CHECK(breaker.beyond_chance() == 1);
  CHECK(breaker.successes() == 1);
  breaker.change({5, seconds(30), seconds(5)}, start);
  breaker.recovered(100);
  CHECK(breaker.beyond_chance() > 1);
  breaker.change({0, seconds(30), seconds(5)}, start);
  CHECK(breaker.beyond_chance() == 1);
}

TEST_CASE("rules that leave the probe unchanged keep the rest that the downstream asked for") {
  auto breaker = opened();
  breaker.failed(start, {1, false, seconds(40)});
  breaker.change({9, seconds(10), seconds(5)}, start);
  CHECK(breaker.room(start + seconds(39)) == 0);
  CHECK(breaker.room(start + seconds(40)) == 1);
}

TEST_CASE("a half-open breaker closes after a success and five seconds without a failure of another record") {
  auto breaker = opened();
  const auto probed = start + seconds(5);
  breaker.begin(probed, 1);
  breaker.look(probed + seconds(60), 0);
  CHECK(breaker.state() == State::half_open);  // no call has worked
  breaker.succeeded(probed, 1);
  breaker.begin(probed, 1);
  fail(breaker, probed + seconds(3), 1);
  breaker.failed(probed + seconds(5), {7, true});  // a suspect says nothing
  breaker.look(probed + seconds(7), 0);
  CHECK(breaker.state() == State::half_open);
  breaker.look(probed + seconds(8), 0);
  CHECK(breaker.state() == State::closed);
}

TEST_CASE("a half-open breaker ignores records that failed before, once a call has succeeded") {
  auto breaker = opened();
  const auto probed = start + seconds(5);
  breaker.begin(probed, 1);
  breaker.succeeded(probed, 1);
  fail(breaker, probed, 4);
  for (int i = 0; i < 10; ++i) breaker.failed(probed, {7, true});
  CHECK(breaker.state() == State::half_open);
  fail(breaker, probed, 1);
  CHECK(breaker.state() == State::open);
}
