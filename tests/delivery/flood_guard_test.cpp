#include "delivery/flood_guard.h"

#include "catch.h"

using namespace laneway;
using delivery::FloodGuard;

namespace {

const TimePoint guard_start{std::chrono::hours(1)};

/// How many of `letters` in a row, `apart` from each other, are let through.
int admitted(FloodGuard& guard, TimePoint& now, int letters, Duration apart) {
  int through = 0;
  for (int i = 0; i < letters; ++i, now += apart) through += guard.admit(now) ? 1 : 0;
  return through;
}

}  // namespace

TEST_CASE("fewer letters than the rate go for ever, a minute's worth at once") {
  FloodGuard guard(10);
  auto now = guard_start;
  CHECK(admitted(guard, now, 600, {}) == 600);
  now += seconds(60);
  CHECK(admitted(guard, now, 10000, milliseconds(101)) == 10000);
}

TEST_CASE("more letters than the rate close the guard: it does not go on with those that the rate allows") {
  FloodGuard guard(10);
  auto now = guard_start;
  CHECK(admitted(guard, now, 1000, {}) == 600);
  CHECK(admitted(guard, now, 36000, milliseconds(100)) == 0);  // an hour, just at the rate
}

TEST_CASE("the guard opens when fewer letters are to be written for a while") {
  FloodGuard guard(10);
  auto now = guard_start;
  admitted(guard, now, 1000, {});
  now += seconds(59);
  CHECK_FALSE(guard.admit(now));
  now += seconds(2);
  CHECK(guard.admit(now));
  admitted(guard, now, 1000, {});
  CHECK(admitted(guard, now, 59, seconds(1)) == 0);
  now += seconds(8);
  CHECK(guard.admit(now));  // one a second, refused, is far below the rate
}

TEST_CASE("a rate of 0 is no limit") {
  FloodGuard guard(0);
  auto now = guard_start;
  CHECK(admitted(guard, now, 100000, {}) == 100000);
}
