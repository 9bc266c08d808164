#include "lane/state/lane_state.h"

#include <rapidcheck.h>

#include "catch.h"

using namespace laneway;
using namespace laneway::lane;

namespace {
const TimePoint t0{seconds(1000)};
}

TEST_CASE("a rejection holds the lane at once, and free room ends the hold") {
  LaneState lane(seconds(1));
  lane.start(t0);
  CHECK(lane.hold(Hold::pool_full, t0));
  CHECK(lane.state() == State::held);
  CHECK_FALSE(lane.may_take());
  CHECK(lane.release(Hold::pool_full, t0 + milliseconds(300)));
  CHECK(lane.state() == State::running);
  CHECK(lane.totals(t0 + seconds(9)).held == milliseconds(300));
  CHECK(lane.totals(t0 + seconds(20)).holds == 1);
}

TEST_CASE("a hold ends only when none of its reasons remains") {
  LaneState lane(seconds(1));
  lane.start(t0);
  lane.hold(Hold::pool_full, t0);
  lane.hold(Hold::memory_full, t0);
  CHECK_FALSE(lane.release(Hold::pool_full, t0));
  CHECK(lane.state() == State::held);
  CHECK(lane.release(Hold::memory_full, t0));
  CHECK(lane.totals(t0 + seconds(20)).holds == 1);
}

TEST_CASE("a lasting hold becomes a pause, and only a resume ends the pause") {
  LaneState lane(seconds(1));
  lane.start(t0);
  lane.hold(Hold::pool_full, t0);
  CHECK_FALSE(lane.pause_due(t0 + milliseconds(999)));
  CHECK(lane.pause_due(t0 + seconds(1)));
  CHECK(lane.pause(t0 + seconds(1)));
  CHECK_FALSE(lane.release(Hold::pool_full, t0 + seconds(2)));
  CHECK(lane.state() == State::paused);
  CHECK(lane.resume(t0 + seconds(3)));
  CHECK(lane.state() == State::running);
  CHECK(lane.totals(t0 + seconds(9)).paused == seconds(2));
}

TEST_CASE("an operator's hold is not counted, and the service's own reason counts from its start") {
  LaneState lane(seconds(1));
  lane.start(t0);
  lane.hold(Hold::suspended, t0);
  CHECK(lane.state() == State::held);
  CHECK(lane.totals(t0 + seconds(20)).holds == 0);
  lane.hold(Hold::pool_full, t0 + milliseconds(400));
  CHECK(lane.totals(t0 + seconds(20)).holds == 1);
  lane.pause(t0 + seconds(1));
  CHECK(lane.totals(t0 + seconds(20)).pauses == 1);
  lane.release(Hold::pool_full, t0 + seconds(3));
  CHECK_FALSE(lane.held_by_itself());
  lane.release(Hold::suspended, t0 + seconds(9));
  lane.resume(t0 + seconds(10));
  CHECK(lane.state() == State::running);
  CHECK(lane.totals(t0 + seconds(20)).held == milliseconds(600));
  CHECK(lane.totals(t0 + seconds(20)).paused == seconds(2));
}

TEST_CASE("after an early resume the lane is held, and waits again before the next pause") {
  LaneState lane(seconds(1));
  lane.start(t0);
  lane.hold(Hold::pool_full, t0);
  lane.pause(t0 + seconds(1));
  lane.resume(t0 + seconds(2));
  CHECK(lane.state() == State::held);
  CHECK_FALSE(lane.pause_due(t0 + milliseconds(2900)));
  CHECK(lane.pause_due(t0 + seconds(3)));
}

TEST_CASE("a lane takes records only while nothing holds it, and never after its drain") {
  REQUIRE(rc::check("lane state", [] {
    LaneState lane(milliseconds(5));
    TimePoint now = t0;
    bool ending = false;
    const auto steps = *rc::gen::container<std::vector<std::uint8_t>>(rc::gen::inRange<std::uint8_t>(0, 12));
    for (const auto step : steps) {
      now += milliseconds(step);
      const auto reason = static_cast<Hold>(step % 4);
      if (step == 0)
        lane.start(now);
      else if (step < 5)
        lane.hold(reason, now);
      else if (step < 9)
        lane.release(reason, now);
      else if (step == 9 && lane.pause_due(now))
        lane.pause(now);
      else if (step == 10)
        lane.resume(now);
      else if (step == 11)
        ending = lane.drain(now) || ending;
      if (lane.may_take()) RC_ASSERT(!lane.held_by_anything() && !ending);
      if (ending) RC_ASSERT(lane.state() == State::draining);
    }
    RC_ASSERT(lane.totals(now).held + lane.totals(now).paused <= now - t0);
  }));
}
