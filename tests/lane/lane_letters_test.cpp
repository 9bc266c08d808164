// What the log, the status and the counters report about records that fail and are dead-lettered.
#include "lane/dead_letter_topic.h"
#include "lane/support.h"

using namespace laneway;
using namespace laneway::lane;
using handler::Outcome;

TEST_CASE("each dead letter is logged with its place, reason, attempts and error") {
  CapturedLog log;
  FailingLane test;
  test.partition.add_run(0, 2);
  test.begin();
  test.handler.answer(1, Outcome::reject("HTTP 400 from shop:443"));
  for (int i = 0; i < 3; ++i) test.handler.answer(0, Outcome::retry("HTTP 500 from shop:443"));
  REQUIRE(test.in_time([&] { return test.commit_offset() == 2; }));
  CHECK(log.lines({"level=warn msg=\"dead letter\" topic=orders partition=3 offset=0 ",
                   " attempt=3 reason=attempts_exhausted error=\"HTTP 500 from shop:443\""}) == 1);
  CHECK(log.lines({"msg=\"dead letter\" topic=orders partition=3 offset=1 ",
                   " attempt=1 reason=rejected error=\"HTTP 400 from shop:443\""}) == 1);
}

TEST_CASE("a dead letter is logged once its topic has acknowledged it, and not before") {
  CapturedLog log;
  FailingLane test;
  test.topic.fail(2);
  test.partition.add(0);
  test.begin();
  test.handler.answer(0, Outcome::reject("no"));
  REQUIRE(test.in_time([&] { return log.lines({"dead letter not written"}) == 1; }));
  CHECK(log.lines({"msg=\"dead letter\""}) == 0);
  REQUIRE(test.in_time([&] { return test.commit_offset() == 1; }));
  CHECK(log.lines({"msg=\"dead letter\"", "offset=0"}) == 1);
}

TEST_CASE("a record whose dead letter cannot be written has its own error and the error of writing") {
  FailingLane test;
  test.topic.fail(1000);
  test.partition.add(0);
  test.begin();
  test.handler.answer(0, Outcome::reject("HTTP 422"));
  CHECK(test.in_time([&] {
    const auto oldest = test.lane->detail(test.now).oldest;
    return oldest && oldest->error == "HTTP 422; no broker";
  }));
  test.topic.fail(0);
  REQUIRE(test.in_time([&] { return test.commit_offset() == 1; }));
  CHECK(test.topic.letters().front().second.reason == "HTTP 422");
}

TEST_CASE("many dead letters are logged as twenty lines and a summary, whatever other records fail") {
  CapturedLog log;
  FailingLane test;
  test.partition.add_run(0, 101);
  test.begin();
  test.handler.answer(0, Outcome::retry("its own failure"));
  test.handler.answer(0);
  REQUIRE(test.until([&] { return log.lines({"record failed"}) == 1; }));
  for (int offset = 1; offset <= 100; ++offset) test.handler.answer(offset, Outcome::reject("no"));
  REQUIRE(test.until([&] { return test.dead_letters(delivery::DeadLetterReason::rejected) == 100; }));
  REQUIRE(test.until_outstanding(0));
  CHECK(log.lines({"msg=\"dead letter\""}) == 20);
  CHECK(log.lines({"more dead letters"}) == 0);
  REQUIRE(test.in_time([&] { return log.lines({"more dead letters"}) == 1; }));
  CHECK(log.lines({"more dead letters", "records=80"}) == 1);
}

TEST_CASE("a lane that ends reports the number of its unlogged dead letters") {
  CapturedLog log;
  FailingLane test;
  test.partition.add_run(0, 30);
  test.begin();
  for (int offset = 0; offset < 30; ++offset) test.handler.answer(offset, Outcome::reject("no"));
  REQUIRE(test.until([&] { return log.lines({"msg=\"dead letter\""}) == 20 && test.commit_offset() == 30; }));
  test.lane->revoke(test.now);
  CHECK(log.lines({"more dead letters", "records=10", "last_offset="}) == 1);
}

TEST_CASE("the last error of a lane has its record and its time") {
  FailingLane test;
  test.partition.add_run(0, 2);
  test.begin();
  CHECK_FALSE(test.lane->detail(test.now).last_error);
  const auto before = wall_clock_ms();
  test.handler.answer(0);
  test.handler.answer(1, Outcome::retry("HTTP 500"));
  test.handler.answer(1, Outcome::retry("HTTP 503"));
  test.handler.answer(1);
  REQUIRE(test.in_time([&] { return test.commit_offset() == 2; }));
  const auto last = test.lane->detail(test.now).last_error;
  REQUIRE(last);
  CHECK(last->offset == 1);
  CHECK(last->attempt == 2);
  CHECK(last->error == "HTTP 503");
  CHECK(last->at_ms >= before);
}

TEST_CASE("a busy lane writes a dead letter before records that wait for the workers begin") {
  FailingLane test;
  test.stage().settings.queue = 8;
  test.partition.add_run(0, 100);
  test.begin();
  REQUIRE(test.until_started({0, 1, 2, 3}));
  test.handler.answer(0, Outcome::reject("no"));
  REQUIRE(test.until_started({0, 1, 2, 3, 4}));
  test.work();
  CHECK(test.lane->detail(test.now).held_by == "pool full");
  test.handler.answer(1);  // frees the only worker
  REQUIRE(test.until([&] { return test.commit_offset() == 2; }));
  CHECK(test.topic.offsets() == Offsets{0});
  REQUIRE(test.until_started(offsets(0, 6)));
}

TEST_CASE("in a busy lane, a failed record runs again in time, and new records go on") {
  FailingLane test;
  test.stage().settings.queue = 8;
  test.partition.add_run(0, 100);
  test.begin();
  REQUIRE(test.until_started({0, 1, 2, 3}));
  test.handler.answer(0, Outcome::retry("not now"));
  REQUIRE(test.until_started({0, 1, 2, 3, 4}));
  test.work();
  test.pass(seconds(10));
  test.handler.answer(1);
  REQUIRE(test.until([&] { return test.handler.attempts(0) == std::vector<std::uint32_t>{1, 2}; }));
  test.handler.answer(2);
  REQUIRE(test.until_started({0, 0, 1, 2, 3, 4, 5}));
}

TEST_CASE("the bytes of a record are counted once, however often it fails") {
  FailingLane test;
  test.partition.add_run(0, 3, 100);
  test.begin();
  for (int i = 0; i < 2; ++i) test.handler.answer(0, Outcome::retry("its own failure"));
  test.handler.answer_done({0, 1, 2});
  REQUIRE(test.in_time([&] { return test.commit_offset() == 3; }));
  CHECK(test.lane->stats().processed_bytes.get() == 300);
}
