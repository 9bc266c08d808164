#include "delivery/limit/latency_rules.h"

#include <rapidcheck.h>

#include "catch.h"
#include "delivery/limit/limit_window.h"

using namespace laneway;
using namespace laneway::delivery;

TEST_CASE("vegas: the length of the queue decides the limit") {
  CHECK(vegas(100, 0.010, 0.010) == 125);   // no queue
  CHECK(vegas(100, 0.010, 0.0106) == 102);  // a few calls wait
  CHECK(vegas(100, 0.010, 0.0112) == 100);  // as many as wanted
  CHECK(vegas(100, 0.010, 0.0125) == 90);   // too many: 80 at work and 10 waiting
  CHECK(vegas(100, 0.010, 0.050) == 50);    // at most to half
  CHECK(vegas(1, 0.010, 0.010) == 2);
}

TEST_CASE("gradient: the ratio of the latencies decides the limit") {
  CHECK(gradient(100, 0.010, 0.0104) == 120);
  CHECK(gradient(100, 0.010, 0.0150) == 87);  // 70 and the headroom, half of the way
  CHECK(gradient(100, 0.010, 0.100) == 77);
  CHECK(gradient(1, 0.010, 0.010) == 2);
}

TEST_CASE("vegas and gradient: a longer latency never gives a higher limit") {
  const auto higher = [](auto rule) {
    rc::check([rule] {
      const auto limit = *rc::gen::inRange(1U, 2000U);
      const auto one = *rc::gen::inRange(1000, 100'000);
      const auto more = *rc::gen::inRange(0, 100'000);
      RC_ASSERT(rule(limit, 0.005, one / 1e6) >= rule(limit, 0.005, (one + more) / 1e6));
      RC_ASSERT(rule(limit, 0.005, one / 1e6) >= limit / 2);
    });
  };
  higher(vegas);
  higher(gradient);
}

TEST_CASE("limit window: the window ends after enough calls and enough time") {
  LimitWindow window;
  const auto start = TimePoint{} + seconds(1);
  window.add({.worked = 100, .latency = milliseconds(10), .in_flight = 7}, start);
  CHECK_FALSE(window.due(50, start + milliseconds(50)));  // too short
  CHECK(window.due(50, start + milliseconds(100)));
  CHECK_FALSE(window.due(200, start + milliseconds(100)));  // fewer than run at a time
  const auto sum = window.close(start + milliseconds(100));
  CHECK(sum.worked == 100);
  CHECK(sum.latency == Approx(0.010));
  CHECK(sum.noise == Approx(0).margin(1e-6));
  CHECK(sum.in_flight == 7);
}

TEST_CASE("limit window: calls with varying latency need more calls") {
  LimitWindow window;
  const auto start = TimePoint{} + seconds(1);
  for (int i = 0; i < 20; ++i) window.add({.worked = 1, .latency = milliseconds(i % 2 * 100 + 1)}, start);
  CHECK_FALSE(window.due(10, start + milliseconds(500)));
  CHECK(window.due(10, start + seconds(1)));
  CHECK(window.close(start + seconds(1)).noise == Approx(2 * 0.05 / 0.75 / std::sqrt(20.0)));
}

TEST_CASE("limit window: a few old calls are not counted, but old dropped calls are") {
  LimitWindow window;
  const auto start = TimePoint{} + seconds(1);
  window.add({.worked = 5, .latency = milliseconds(10)}, start);
  CHECK_FALSE(window.due(10, start + seconds(70)));
  window.add({.latency = milliseconds(10), .throttled = 3}, start + seconds(80));
  CHECK(window.due(10, start + seconds(150)));
  CHECK(window.close(start + seconds(150)).worked == 0);
}

TEST_CASE("limit window: after a minute a few slow calls suffice, if they are as many as the limit") {
  LimitWindow window;
  const auto start = TimePoint{} + seconds(1);
  const auto add_one = [&](Duration after) {
    window.add({.worked = 1, .latency = seconds(40), .in_flight = 2}, start + after);
  };
  add_one({});
  add_one(seconds(1));
  CHECK_FALSE(window.due(2, start + seconds(59)));
  add_one(seconds(80));
  CHECK_FALSE(window.due(4, start + seconds(80)));
  CHECK(window.due(2, start + seconds(80)));
  const auto sum = window.close(start + seconds(80));
  CHECK(sum.worked == 3);
  CHECK(sum.noise > 0);  // although all were equal
}

TEST_CASE("limit window: after a window of ten seconds, windows of five have the average of all calls too") {
  LimitWindow window;
  auto now = TimePoint{} + seconds(1);
  const auto latency_of = [&](Duration time) {
    for (int i = 0; i < 12; ++i) {
      window.add({.worked = 1, .latency = seconds(i < 9 ? 1 : 5), .in_flight = 12}, now);
      now += time / 12;
    }
    return window.close(now).latency;
  };
  CHECK(latency_of(seconds(9)) == Approx(1).epsilon(0.05));
  CHECK(latency_of(seconds(12)) == Approx(2).epsilon(0.05));
  CHECK(latency_of(seconds(9)) == Approx(2).epsilon(0.05));
  CHECK(latency_of(seconds(4)) == Approx(1).epsilon(0.05));
}

TEST_CASE("limit window: a later change does not shorten the time for which calls are not counted") {
  LimitWindow window;
  const auto start = TimePoint{} + seconds(1);
  window.settle(seconds(10), start);
  window.settle({}, start + seconds(1));
  window.add({.worked = 50, .latency = milliseconds(10)}, start + seconds(2));
  CHECK_FALSE(window.due(10, start + seconds(5)));
}

TEST_CASE("limit window: calls before the window has settled are not counted") {
  LimitWindow window;
  const auto start = TimePoint{} + seconds(1);
  window.settle(milliseconds(300), start);
  window.add({.worked = 50, .latency = milliseconds(10)}, start + milliseconds(200));
  CHECK_FALSE(window.due(10, start + seconds(20)));
  window.add({.worked = 50, .latency = milliseconds(10)}, start + milliseconds(400));
  CHECK(window.due(10, start + milliseconds(500)));
}
