// One downstream of several is out for long: what its lane, its neighbours and the readers of the status see.
#include "lane/stage/pooled_lane.h"

using namespace laneway;
using namespace laneway::lane;
using handler::Outcome;

TEST_CASE("a lane sleeps while the rate of its pool allows nothing") {
  ScriptedHandler slow;
  RateLimiter rate({.records = 1, .burst = seconds(1)});
  PooledLane test;
  test.add_pool("slow", slow).rate = &rate;
  test.partition.add_run(0, 20);
  test.begin();
  REQUIRE(test.until([&] {
    test.pass(milliseconds(10));
    return slow.count() == 1;
  }));
  REQUIRE(test.until_outstanding(0));
  CHECK(test.lane->detail(test.now).held_by == "rate limit");
  CHECK(test.lane->tick(test.now) - test.now >= milliseconds(40));
}
