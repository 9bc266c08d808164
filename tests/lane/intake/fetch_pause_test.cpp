// When a held lane stops fetching, and when it starts again, on a state and a rate alone.
#include "lane/intake/fetch_pause.h"

#include "catch.h"

using namespace laneway;
using namespace laneway::lane;

namespace {

/// A running lane that pauses when it has been held for a second; its rate is a record a second.
struct FetchingLane {
  FetchingLane() { state.start(now); }
  void hold(Hold reason) { state.hold(reason, now); }
  void hold_and_pause(Hold reason) {
    hold(reason);
    REQUIRE(state.pause(now));
  }
  bool resume_due(std::optional<Duration> work_left) { return fetching.resume_due(work_left, now); }
  /// The lane has taken so many records at once. Returns when it may take the next one.
  TimePoint take_beyond_rate(std::uint64_t records) {
    (void)rate.room(now);
    rate.charge(records, 0, now);
    CHECK(rate.waits(now));
    return rate.ready_at(now);
  }

  TimePoint now{seconds(1000)};
  LaneState state{seconds(1)};
  LaneRate rate{nullptr, {1, 0, seconds(1)}};
  FetchPause fetching{state, rate};
};

/// Twice the usual time from a resume to the first record (20 ms) and between two looks (50 ms).
constexpr Duration lead = milliseconds(140);

}  // namespace

TEST_CASE_METHOD(FetchingLane, "a running lane neither pauses nor resumes") {
  CHECK_FALSE(fetching.pause_due(now + std::chrono::hours(1)));
  CHECK_FALSE(resume_due(Duration::zero()));
}

TEST_CASE_METHOD(FetchingLane, "a hold that lasts pause_after becomes a pause") {
  hold(Hold::pool_full);
  CHECK_FALSE(fetching.pause_due(now + milliseconds(999)));
  CHECK(fetching.pause_due(now + seconds(1)));
  CHECK_FALSE(resume_due(Duration::zero()));  // it still fetches
}

TEST_CASE_METHOD(FetchingLane, "a lane whose position blocks it keeps fetching, whatever else holds it") {
  hold(Hold::position);
  hold(Hold::pool_full);
  CHECK_FALSE(fetching.pause_due(now + std::chrono::hours(1)));
}

TEST_CASE_METHOD(FetchingLane, "a lane that waits for its rate pauses only if the wait is long") {
  const auto ready = take_beyond_rate(100);
  hold(Hold::rate_limited);
  CHECK_FALSE(fetching.pause_due(now + milliseconds(999)));
  CHECK(fetching.pause_due(ready - seconds(11)));
  CHECK_FALSE(fetching.pause_due(ready - seconds(9)));
  hold(Hold::pool_full);
  CHECK(fetching.pause_due(ready - seconds(9)));
}

TEST_CASE_METHOD(FetchingLane, "a paused lane resumes at once when nothing holds it any more") {
  hold_and_pause(Hold::memory_full);
  CHECK_FALSE(resume_due({}));
  state.release(Hold::memory_full, now);
  CHECK(resume_due({}));
  CHECK(resume_due(std::chrono::hours(1)));
}

TEST_CASE_METHOD(FetchingLane,
                 "a full pool lets the lane resume when its work ends before the first record comes") {
  hold_and_pause(Hold::pool_full);
  CHECK_FALSE(resume_due({}));  // no service time is known
  CHECK_FALSE(resume_due(lead + nanoseconds(1)));
  CHECK(resume_due(lead));
  CHECK(resume_due(Duration::zero()));
}

TEST_CASE_METHOD(FetchingLane, "a reason that lasts keeps the lane paused, however little work is left") {
  for (const auto& reason : hold_reasons) {
    FetchingLane test;
    test.hold_and_pause(Hold::pool_full);
    test.hold(reason.hold);
    CHECK(test.resume_due(Duration::zero()) != reason.lasts);
  }
}

TEST_CASE_METHOD(FetchingLane, "a lane that waits for its rate resumes when the wait becomes short") {
  const auto ready = take_beyond_rate(100);
  hold_and_pause(Hold::rate_limited);
  now = ready - seconds(11);
  CHECK_FALSE(resume_due(Duration::zero()));
  now = ready - seconds(9);
  CHECK_FALSE(resume_due({}));
  CHECK(resume_due(Duration::zero()));
}

TEST_CASE_METHOD(FetchingLane, "the time to the first record after a resume moves the next resume") {
  fetching.record_came(milliseconds(100));
  hold_and_pause(Hold::pool_full);
  const auto later = lead + milliseconds(40);  // a quarter of the difference to 100 ms, twice
  CHECK(resume_due(later));
  CHECK_FALSE(resume_due(later + nanoseconds(1)));
}
