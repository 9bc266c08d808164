#include "telemetry/repeat_limiter.h"

#include "catch.h"

using namespace laneway;
using telemetry::RepeatLimiter;

namespace {
const TimePoint start{};
}

TEST_CASE("a key is admitted a few times in a window and again in the next") {
  RepeatLimiter limiter({2, seconds(10), 8});
  CHECK(limiter.admit("a", start));
  CHECK(limiter.admit("a", start));
  CHECK_FALSE(limiter.admit("a", start + seconds(9)));
  CHECK(limiter.admit("b", start));
  CHECK(limiter.take_over(start + seconds(9)).empty());
  const auto over = limiter.take_over(start + seconds(10));
  REQUIRE(over.size() == 1);
  CHECK(over[0].key == "a");
  CHECK(over[0].left_out == 1);
  CHECK(limiter.admit("a", start + seconds(10)));
}

TEST_CASE("different numbers do not make keys different") {
  RepeatLimiter limiter({1, seconds(10), 8});
  CHECK(limiter.admit("connect to 10.0.0.1:9092 failed after 5ms", start));
  CHECK_FALSE(limiter.admit("connect to 10.0.0.12:9092 failed after 123ms", start));
  CHECK(limiter.admit("connect to 10.0.0.1:9092 failed", start));
}

TEST_CASE("the memory for keys is bounded, and further keys are counted together") {
  RepeatLimiter limiter({1, seconds(10), 2});
  CHECK(limiter.admit("a", start));
  CHECK(limiter.admit("b", start));
  CHECK(limiter.admit("c", start));
  CHECK_FALSE(limiter.admit("d", start));
  const auto over = limiter.take_over(start, true);
  REQUIRE(over.size() == 1);
  CHECK(over[0].key == "other messages");
}
