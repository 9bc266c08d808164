// Why nothing can be read from a source: what is logged, how often, and how long the error has lasted.
#include "lane/source/source_errors.h"

#include "captured_log.h"
#include "catch.h"

using namespace laneway;
using namespace laneway::lane;

namespace {

struct UnreadableSource {
  void fail(const std::string& why) { errors.fail(why, 7, now); }
  bool repeat_due_after(Duration time) { return errors.repeat_due(now += time); }

  TimePoint now{seconds(1000)};
  LaneId id{{"orders", 3}, 7};
  SourceErrors errors{id};
};

}  // namespace

TEST_CASE_METHOD(UnreadableSource, "a source without an error has nothing to repeat") {
  CHECK_FALSE(errors.any());
  CHECK(errors.failing(now) == Duration::zero());
  CHECK_FALSE(repeat_due_after(std::chrono::hours(1)));
}

TEST_CASE_METHOD(UnreadableSource, "an error is to be repeated every half minute while it lasts") {
  fail("denied");
  CHECK_FALSE(repeat_due_after(milliseconds(29'999)));
  CHECK(repeat_due_after(milliseconds(1)));
  CHECK_FALSE(repeat_due_after(milliseconds(29'999)));
  CHECK(repeat_due_after(milliseconds(1)));
  errors.clear();
  CHECK_FALSE(repeat_due_after(seconds(30)));
}

TEST_CASE_METHOD(UnreadableSource, "an error that comes again begins its half minute again") {
  fail("denied");
  CHECK_FALSE(repeat_due_after(seconds(20)));
  fail("denied");
  CHECK_FALSE(repeat_due_after(seconds(29)));
  CHECK(repeat_due_after(seconds(1)));
}

TEST_CASE_METHOD(UnreadableSource,
                 "errors that follow each other count as one failing time, with the last reason") {
  fail("denied");
  now += seconds(5);
  fail("the file is gone");
  now += seconds(5);
  CHECK(errors.failing(now) == seconds(10));
  CHECK(errors.why() == "the file is gone");
  errors.clear();
  CHECK(errors.failing(now) == Duration::zero());
  fail("denied");
  now += seconds(1);
  CHECK(errors.failing(now) == seconds(1));
}

TEST_CASE_METHOD(UnreadableSource, "a new error is logged at once, however often another error came before") {
  const CapturedLog log;
  for (int i = 0; i < 100; ++i) fail("denied before");
  CHECK(log.lines({"partition error", "topic=orders partition=3", "offset=7", "denied before"}) > 0);
  CHECK(log.lines({"partition error", "denied before"}) < 100);
  fail("the file is gone");
  CHECK(log.lines({"partition error", "the file is gone"}) == 1);
}
