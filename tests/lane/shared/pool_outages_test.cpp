// The times in which no subscriber of a pool worked.
#include "lane/shared/pool_outages.h"

#include <string>

#include "catch.h"

using namespace laneway;
using namespace laneway::lane;

namespace {

using std::chrono::hours;
using std::chrono::minutes;

/// A record has waited since `came`, and may wait for an hour. Others work at first.
struct WaitingRecord {
  WaitingRecord() { work(); }
  void work() {
    outages.worked(now);
    worked_at = now;
  }
  /// Others work without a pause.
  void pass_working(Duration time) {
    for (const auto end = now + time; now < end; now += milliseconds(500)) work();
    work();
  }
  /// Calls of two subscribers fail all the time.
  void outage(Duration length) {
    fail(one);
    fail(other);
    now += length;
    work();
  }
  void fail(const char& who, bool certain = false) { outages.failed(&who, certain, now); }
  bool ends(Duration longest = hours(1)) const {
    return outages.has_waited(now - came, longest, worked_at, now);
  }

  const char one = 0;
  const char other = 0;
  TimePoint now{hours(1000)};
  TimePoint came = now;
  TimePoint worked_at{};
  PoolOutages outages;
};

}  // namespace

TEST_CASE_METHOD(WaitingRecord, "a record has waited for its time while others worked") {
  pass_working(hours(1) - seconds(1));
  CHECK_FALSE(ends());
  pass_working(seconds(1));
  CHECK(ends());
}

TEST_CASE_METHOD(WaitingRecord, "the time in which nobody works does not count") {
  pass_working(minutes(30));
  outage(hours(5));
  CHECK_FALSE(ends());
  pass_working(minutes(29));
  CHECK_FALSE(ends());
  pass_working(minutes(1));
  CHECK(ends());
}

TEST_CASE_METHOD(WaitingRecord, "nothing ends while nobody works") {
  pass_working(hours(1));
  REQUIRE(ends());
  fail(one);
  CHECK(ends());  // one failed record shows nothing
  SECTION("calls of two subscribers have failed") { fail(other); }
  SECTION("the breaker of one has opened") { fail(one, true); }
  now += seconds(1);
  CHECK_FALSE(ends());
  now += hours(3);
  CHECK_FALSE(ends());
}

TEST_CASE_METHOD(WaitingRecord, "what had waited for long before an outage of all is tried first") {
  pass_working(hours(1));
  REQUIRE(ends());
  const auto [length, proof] = GENERATE(table<Duration, Duration>(
      {{seconds(6), seconds(60)}, {minutes(2), minutes(2)}, {hours(2), minutes(10)}}));
  outage(length);
  pass_working(proof - seconds(1));
  CHECK_FALSE(ends());
  pass_working(seconds(1) + length);
  CHECK(ends());
}

TEST_CASE_METHOD(WaitingRecord, "a record that fails now and then is no outage of all") {
  for (int i = 0; i < 360; ++i) {
    fail(one);
    now += seconds(10);
    work();
  }
  CHECK(ends());
}

TEST_CASE_METHOD(WaitingRecord, "the time at the quiet end of a stream counts") {
  pass_working(minutes(5));
  now += minutes(55);
  CHECK(ends());
}

TEST_CASE_METHOD(WaitingRecord, "what came after others had worked for the last time does not end") {
  pass_working(minutes(10));
  now += seconds(1);
  came = now;
  now += hours(2);
  CHECK_FALSE(ends());
  work();
  CHECK(ends());
}

TEST_CASE_METHOD(WaitingRecord, "after a start, others must work for some time before a record ends") {
  came = now - hours(48);
  CHECK_FALSE(ends());
  CHECK_FALSE(PoolOutages().has_waited(hours(48), hours(1), now, now));
  pass_working(PoolOutages::proof - seconds(1));
  CHECK_FALSE(ends());
  pass_working(seconds(1));
  CHECK(ends());
}

TEST_CASE_METHOD(WaitingRecord,
                 "a record that may wait for seconds ends after others have worked for these") {
  pass_working(seconds(10));
  CHECK(ends(seconds(10)));
}

TEST_CASE_METHOD(WaitingRecord, "a network that works for a second in each minute is one outage") {
  pass_working(minutes(1));
  for (int i = 0; i < 24 * 60; ++i) {
    outage(seconds(59));
    pass_working(seconds(1));
  }
  pass_working(minutes(20));
  CHECK_FALSE(ends());
}

TEST_CASE_METHOD(WaitingRecord, "of many outages the longest ones are remembered") {
  pass_working(minutes(1));
  outage(hours(2));
  for (std::size_t i = 0; i < 2 * PoolOutages::most; ++i) {
    pass_working(seconds(5));
    outage(seconds(6));
  }
  pass_working(minutes(20));
  CHECK_FALSE(ends());
  pass_working(minutes(30));
  CHECK(ends());
}
