#include "delivery/failure/overtaken_calls.h"

#include "catch.h"

using namespace laneway;
using namespace laneway::delivery;

namespace {

const TimePoint silence{std::chrono::hours(1)};
constexpr Duration usual = milliseconds(10);

/// A stream of calls that worked, each within 10 ms, until `end`.
struct Stream {
  explicit Stream(TimePoint end) : worked{usual, end, end - usual} {}
  bool fails(TimePoint began, Duration took) { return calls.add({began, began + took}, worked); }

  OvertakenCalls calls;
  OvertakenCalls::Worked worked;
};

}  // namespace

TEST_CASE("a call is overtaken if the last successful call began after it") {
  Stream stream(silence);
  CHECK(stream.fails(silence - milliseconds(11), seconds(1)));
  CHECK(stream.fails(silence - milliseconds(10), seconds(1)));
  CHECK_FALSE(stream.fails(silence - milliseconds(9), seconds(1)));
}

TEST_CASE("a call that took hardly longer than a successful one shows an outage like any other") {
  Stream stream(silence);
  CHECK_FALSE(stream.fails(silence - seconds(1), milliseconds(14)));
  CHECK(stream.fails(silence - seconds(1), milliseconds(15)));
}

TEST_CASE("sixteen calls can be overtaken by chance in the time of a call, then another sixteen") {
  Stream stream(silence);
  for (int i = 0; i < 16; ++i) CHECK(stream.fails(silence - milliseconds(12), seconds(1)));
  CHECK_FALSE(stream.fails(silence - milliseconds(12), seconds(1)));
  stream.worked = {usual, silence + seconds(2) + usual, silence + seconds(2)};
  for (int i = 0; i < 16; ++i) CHECK(stream.fails(silence + seconds(2), seconds(1)));
  CHECK_FALSE(stream.fails(silence + seconds(2), seconds(1)));
}

TEST_CASE("more calls can be overtaken by chance if four times as many succeeded at the time") {
  Stream stream(silence + seconds(1));
  stream.calls.note(silence, 500);
  SECTION("a poison share of up to a ninth") {
    stream.calls.note(silence + seconds(1), 500 + 400);
    int overtaken = 0;
    for (int i = 0; i < 200; ++i) overtaken += stream.fails(silence + milliseconds(1 + i), seconds(5));
    CHECK(overtaken == 50 + 16);
  }
  SECTION("some of several backends hang") {
    stream.calls.note(silence + seconds(1), 500 + 60);
    int overtaken = 0;
    for (int i = 0; i < 200; ++i) overtaken += stream.fails(silence + milliseconds(1 + i), seconds(5));
    CHECK(overtaken == 7 + 16);
  }
}

TEST_CASE("successes before the oldest of the overtaken calls began are not counted") {
  Stream stream(silence + seconds(10));
  for (int second = 0; second <= 10; ++second) stream.calls.note(silence + seconds(second), 1000);
  int overtaken = 0;
  for (int i = 0; i < 50; ++i) overtaken += stream.fails(silence + seconds(9) + milliseconds(i), seconds(5));
  CHECK(overtaken == 16);
}
