#include "delivery/failure/flood_guard.h"

#include "catch.h"

using namespace laneway;
using delivery::FloodGuard;

namespace {

const TimePoint guard_start{std::chrono::hours(1)};

/// How many of `letters` in a row, `apart` from each other, are let through.
int admitted(FloodGuard& guard, TimePoint& now, int letters, Duration apart) {
  int through = 0;
  for (int i = 0; i < letters; ++i, now += apart) through += guard.admit(now, 0) ? 1 : 0;
  return through;
}

}  // namespace

TEST_CASE("fewer letters than the rate pass forever, and a minute's worth at once") {
  FloodGuard guard(10);
  auto now = guard_start;
  CHECK(admitted(guard, now, 600, {}) == 600);
  now += seconds(60);
  CHECK(admitted(guard, now, 10000, milliseconds(101)) == 10000);
}

TEST_CASE("more letters than the rate close the guard, also for the letters that the rate allows") {
  FloodGuard guard(10);
  auto now = guard_start;
  CHECK(admitted(guard, now, 1000, {}) == 600);
  CHECK(admitted(guard, now, 36000, milliseconds(100)) == 0);  // an hour, just at the rate
}

TEST_CASE("a time slightly before the last one costs no letter") {
  FloodGuard guard(1);
  auto now = guard_start;
  CHECK_FALSE(guard.closed(now + milliseconds(1), 0));  // another thread's
  CHECK(admitted(guard, now, 1000, {}) == 60);
}

TEST_CASE("the guard opens after a while with fewer letters") {
  FloodGuard guard(10);
  auto now = guard_start;
  admitted(guard, now, 1000, {});
  now += seconds(59);
  CHECK_FALSE(guard.admit(now, 0));
  now += seconds(2);
  CHECK(guard.admit(now, 0));
  admitted(guard, now, 1000, {});
  CHECK(admitted(guard, now, 59, seconds(1)) == 0);
  now += seconds(8);
  CHECK(guard.admit(now, 0));  // one a second, refused, is far below the rate
}

TEST_CASE("the guard opens again when records have succeeded, with or without another rejection") {
  FloodGuard guard(10);
  auto now = guard_start;
  CHECK_FALSE(guard.closed(now, 0));
  admitted(guard, now, 1000, {});
  CHECK(guard.closed(now, 500));
  CHECK_FALSE(guard.closed(now, 600));
  CHECK(guard.admit(now, 600));
}

TEST_CASE("a rate of 0 never closes the guard") {
  FloodGuard guard(0);
  auto now = guard_start;
  CHECK_FALSE(guard.closed(now, 0));
  CHECK(admitted(guard, now, 100000, {}) == 100000);
}

TEST_CASE("records that succeed balance as many rejections") {
  FloodGuard guard(10);
  auto now = guard_start;
  std::uint64_t successes = 0;
  int through = 0;
  for (int i = 0; i < 10000; ++i) through += guard.admit(now, ++successes) ? 1 : 0;
  CHECK(through == 10000);
}

TEST_CASE("one success balances one rejection, and no more") {
  FloodGuard guard(10);
  const auto now = guard_start;
  int through = 0;
  for (int i = 0; i < 10000; ++i) through += guard.admit(now, 100) ? 1 : 0;
  CHECK(through == 600);
  FloodGuard busy(10);
  for (through = 0; busy.admit(now, through < 300 ? 0 : 100);) ++through;
  CHECK(through == 700);
}

TEST_CASE("neither an hour without letters nor many successes save more than a minute's worth") {
  FloodGuard guard(10);
  auto now = guard_start;
  CHECK(guard.admit(now, 0));
  now += std::chrono::hours(1);
  CHECK(admitted(guard, now, 1000, {}) == 600);
  FloodGuard busy(10);
  CHECK(busy.admit(now, 0));
  int through = 0;
  for (int i = 0; i < 1000; ++i) through += busy.admit(now, 1'000'000) ? 1 : 0;
  CHECK(through == 600);
}

TEST_CASE("the guard opens when one letter of a minute's worth is free") {
  FloodGuard guard(1);
  auto now = guard_start;
  admitted(guard, now, 61, {});
  now += seconds(59) - milliseconds(1);
  CHECK_FALSE(guard.admit(now, 0));
  now += milliseconds(1001);  // the letter above took one
  CHECK(guard.admit(now, 0));
}
