#include "delivery/breaker.h"

#include <rapidcheck.h>

#include "catch.h"

using namespace laneway;
using namespace laneway::delivery;
using State = Breaker::State;

namespace {

const TimePoint start = TimePoint{} + std::chrono::hours(1);

Breaker opened(BreakerRules rules = {3, seconds(30), seconds(5)}) {
  Breaker breaker(rules);
  for (std::uint32_t i = 0; i < rules.failures; ++i) breaker.failed(start);
  return breaker;
}

}  // namespace

TEST_CASE("it opens on so many failures in a row, not before, and a success begins anew") {
  Breaker breaker({3, seconds(30), seconds(5)});
  breaker.succeeded(start, 100);
  breaker.failed(start);
  breaker.failed(start);
  breaker.succeeded(start, 1);
  breaker.failed(start);
  breaker.failed(start);
  CHECK(breaker.state() == State::closed);
  CHECK(breaker.room(start) == Breaker::unlimited);
  breaker.failed(start);
  CHECK(breaker.state() == State::open);
  CHECK(breaker.room(start) == 0);
}

TEST_CASE("it opens on failures that are half of the calls in the window, though successes come between") {
  Breaker breaker({3, seconds(30), seconds(5)});
  for (int i = 0; i < 2; ++i) {
    breaker.succeeded(start, 1);
    breaker.failed(start);
  }
  CHECK(breaker.state() == State::closed);
  breaker.succeeded(start, 1);
  breaker.failed(start);
  CHECK(breaker.state() == State::open);
}

TEST_CASE("failures that are few among the calls do not open it") {
  Breaker breaker({3, seconds(30), seconds(5)});
  for (int i = 0; i < 1000; ++i) {
    breaker.succeeded(start, 2);
    breaker.failed(start);
  }
  CHECK(breaker.state() == State::closed);
}

TEST_CASE("failures older than the window are forgotten") {
  Breaker breaker({3, seconds(30), seconds(5)});
  auto now = start;
  for (int i = 0; i < 20; ++i) {
    breaker.failed(now);
    breaker.succeeded(now, 1);  // ends the row
    now += seconds(31);
  }
  CHECK(breaker.state() == State::closed);
}

TEST_CASE("one probe at a time asks whether the downstream is back, and its failure opens again") {
  auto breaker = opened();
  CHECK(breaker.room(start + seconds(4)) == 0);
  auto now = start + seconds(5);
  REQUIRE(breaker.room(now) == 1);
  breaker.begin(now, 1);
  CHECK(breaker.state() == State::half_open);
  CHECK(breaker.room(now) == 0);
  breaker.failed(now);
  CHECK(breaker.state() == State::open);
  CHECK(breaker.room(now + seconds(4)) == 0);
  CHECK(breaker.room(now + seconds(5)) == 1);
}

TEST_CASE("a probe that is answered lets twice as many through each time, until it closes") {
  auto breaker = opened();
  const auto now = start + seconds(5);
  for (std::uint32_t allowed = 1; allowed <= 32; allowed *= 2) {
    CHECK(breaker.room(now) == allowed);
    breaker.begin(now, 1);
    breaker.succeeded(now, 1);
  }
  CHECK(breaker.state() == State::closed);
  CHECK(breaker.room(now) == Breaker::unlimited);
}

TEST_CASE("a probe that hangs or was given back does not keep the breaker open for ever") {
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

TEST_CASE("the downstream is left alone for as long as it asks for") {
  Breaker breaker({1, seconds(30), seconds(5)});
  breaker.failed(start, seconds(20));
  CHECK(breaker.room(start + seconds(19)) == 0);
  CHECK(breaker.room(start + seconds(20)) == 1);
}

TEST_CASE("whatever happens, an open breaker lets a probe through once its time has come") {
  REQUIRE(rc::check("a breaker never locks itself", [](const std::vector<std::uint8_t>& actions) {
    Breaker breaker({3, seconds(30), seconds(5)});
    auto now = start;
    for (const auto action : actions) {
      now += milliseconds(100 * (action / 8));
      if (action % 4 == 0 && breaker.room(now) > 0) breaker.begin(now, 1);
      if (action % 4 == 1) breaker.succeeded(now, 1);
      if (action % 4 == 2) breaker.failed(now);
      if (action % 4 == 3) breaker.ended(1);
    }
    RC_ASSERT(breaker.room(now + seconds(5)) > 0);
  }));
}

TEST_CASE("other rules hold at once, whatever its state is") {
  Breaker breaker({5, seconds(30), seconds(5)});
  breaker.failed(start);
  breaker.failed(start);
  breaker.change({3, seconds(30), seconds(5)}, start);
  CHECK(breaker.state() == State::closed);
  breaker.failed(start);
  CHECK(breaker.state() == State::open);
  breaker.change({3, seconds(30), seconds(1)}, start);
  CHECK(breaker.room(start + milliseconds(999)) == 0);
  CHECK(breaker.room(start + seconds(1)) == 1);
  breaker.change({3, seconds(30), seconds(60)}, start);  // what was promised sooner stays
  CHECK(breaker.room(start + seconds(1)) == 1);
}

TEST_CASE("rules that do not mention the probe keep what the downstream asked for") {
  auto breaker = opened();
  breaker.failed(start, seconds(40));
  breaker.change({9, seconds(10), seconds(5)}, start);
  CHECK(breaker.room(start + seconds(39)) == 0);
  CHECK(breaker.room(start + seconds(40)) == 1);
}

TEST_CASE("without failures to open on it closes and stays closed") {
  auto breaker = opened();
  breaker.change({0, seconds(30), seconds(5)}, start);
  CHECK(breaker.state() == State::closed);
  for (int i = 0; i < 100; ++i) breaker.failed(start);
  CHECK(breaker.state() == State::closed);
  breaker.change({3, seconds(30), seconds(5)}, start);
  for (int i = 0; i < 3; ++i) breaker.failed(start);
  CHECK(breaker.state() == State::open);
}
