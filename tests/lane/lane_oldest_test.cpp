// The oldest record, which holds back the commits: when it is reported, and when it is given up.
#include "lane/dead_letter_topic.h"
#include "lane/support.h"

using namespace laneway;
using namespace laneway::lane;
using delivery::DeadLetterReason;
using handler::Outcome;

namespace {

/// Record 0 waits long for its retry, the others are done.
struct StuckLane : FailingLane {
  explicit StuckLane(config::LedgerPolicy policy,
                     Outcome failure = Outcome::retry("stuck", std::chrono::hours(2))) {
    context.ledger = {std::chrono::minutes(10), policy};
    context.retry.max_backoff = std::chrono::hours(3);
    context.retry.max_elapsed = std::chrono::hours(3);
    context.lanes.max_incomplete = 8;
    handler.answer(0, std::move(failure));
    handler.answer_done(offsets(1, 100));
  }
  void fill(std::int64_t records) {
    partition.add_run(0, records);
    begin();
    REQUIRE(until_outstanding(0));
    pass(milliseconds(1));
  }
};

}  // namespace

TEST_CASE("the oldest record has the attempt numbers of the log, also if an attempt does not count") {
  CapturedLog log;
  FailingLane test;
  test.partition.add(0);
  test.begin();
  const auto oldest = [&] { return *test.lane->detail(test.now).oldest; };
  const auto reaches = [&](OldestRecord::Phase phase) {
    if (phase == OldestRecord::Phase::running) test.pass(seconds(30));  // its back-off is over
    return test.until([&] { return oldest().phase == phase; });
  };
  const auto is = [&](std::uint32_t attempt, std::uint32_t failed, const std::string& error) {
    const auto record = oldest();
    return record.attempt == attempt && record.failed_attempt == failed && record.error == error;
  };
  REQUIRE(test.until_started({0}));
  CHECK(is(1, 0, ""));
  test.handler.answer(0, Outcome::retry("first"));
  REQUIRE(reaches(OldestRecord::Phase::waiting));
  CHECK(is(1, 1, "first"));
  REQUIRE(reaches(OldestRecord::Phase::running));
  CHECK(is(2, 1, "first"));
  test.now += seconds(5);  // a line of the log every five seconds
  test.handler.answer(0, Outcome::unavailable("out"));
  REQUIRE(reaches(OldestRecord::Phase::waiting));
  CHECK(is(2, 2, "out"));
  REQUIRE(reaches(OldestRecord::Phase::running));
  CHECK(is(2, 2, "out"));  // once more: the failure was the downstream's
  CHECK(log.lines({"record failed", "attempt=1", "error=first"}) == 1);
  CHECK(log.lines({"record failed", "attempt=2", "error=out"}) == 1);
}

TEST_CASE("a record that holds back the commits for too long is reported once, and held") {
  CapturedLog log;
  StuckLane test(config::LedgerPolicy::hold);
  test.fill(3);
  for (int i = 0; i < 20; ++i) test.pass(std::chrono::minutes(1));
  CHECK(log.lines({"a record holds back the commits", "offset=0", "records_behind=2", "place=waiting",
                   "attempt=1", "error=stuck", "policy=hold"}) == 1);
  CHECK(test.commit_offset() <= 0);
  CHECK(test.topic.letters().empty());
}

TEST_CASE("by policy, a record that is too old becomes a dead letter, and the commits go on") {
  StuckLane test(config::LedgerPolicy::dead_letter);
  test.fill(3);
  test.pass(std::chrono::minutes(9));
  CHECK(test.topic.letters().empty());
  test.pass(std::chrono::minutes(1));
  REQUIRE(test.in_time([&] { return test.commit_offset() == 3; }));
  REQUIRE(test.topic.letters().size() == 1);
  CHECK(test.topic.letters().front().first == 0);
  CHECK(test.dead_letters(DeadLetterReason::too_old) == 1);
}

TEST_CASE("a running record that is too old is given up when its attempt fails") {
  FailingLane test;
  test.context.ledger = {std::chrono::minutes(10), config::LedgerPolicy::dead_letter};
  test.partition.add(0);
  test.begin();
  REQUIRE(test.until_started({0}));
  test.pass(milliseconds(1));
  test.pass(std::chrono::minutes(11));
  CHECK(test.topic.letters().empty());
  test.handler.answer(0, Outcome::retry("too late"));
  REQUIRE(test.in_time([&] { return test.commit_offset() == 1; }));
  CHECK(test.dead_letters(DeadLetterReason::too_old) == 1);
}

TEST_CASE("by policy, a full window gives up the record that holds it back") {
  StuckLane test(config::LedgerPolicy::dead_letter);
  test.fill(20);
  REQUIRE(test.in_time([&] { return test.commit_offset() == 20; }));
  CHECK(test.topic.offsets() == Offsets{0});
  CHECK(test.dead_letters(DeadLetterReason::window_full) == 1);
}

TEST_CASE("in order, a window full of records that wait for their turn gives up nothing") {
  for (const auto order : {config::Order::key, config::Order::partition}) {
    FailingLane test;
    test.context.ledger.policy = config::LedgerPolicy::dead_letter;
    test.context.lanes.order = order;
    test.context.lanes.max_incomplete = 8;
    for (std::int64_t offset = 0; offset < 20; ++offset) test.partition.add(offset, "a");
    test.begin();
    REQUIRE(test.until_started({0}));
    test.pass(milliseconds(1));
    CHECK(test.lane->detail(test.now).held_by == "max_incomplete reached");
    test.handler.answer(0, Outcome::retry("not now"));
    test.handler.answer_done(offsets(0, 20));
    REQUIRE(test.in_time([&] { return test.commit_offset() == 20; }));
    CHECK(test.handler.attempts(0) == std::vector<std::uint32_t>{1, 2});
    CHECK(test.topic.letters().empty());
  }
}

TEST_CASE("in order, a record overtaken by records of other keys is given up when the window is full") {
  FailingLane test;
  test.context.ledger.policy = config::LedgerPolicy::dead_letter;
  test.context.retry.max_backoff = std::chrono::hours(3);
  test.context.retry.max_elapsed = std::chrono::hours(3);
  test.context.lanes.order = config::Order::key;
  test.context.lanes.max_incomplete = 8;
  for (std::int64_t offset = 0; offset < 20; ++offset) test.partition.add(offset, std::to_string(offset));
  test.begin();
  test.handler.answer(0, Outcome::retry("stuck", std::chrono::hours(2)));
  REQUIRE(test.until([&] {
    test.pass(milliseconds(1));
    return test.lane->stats().waiting_retries.get() == 1;
  }));
  test.handler.answer_done(offsets(1, 20));
  REQUIRE(test.in_time([&] { return test.commit_offset() == 20; }));
  CHECK(test.topic.offsets() == Offsets{0});
  CHECK(test.dead_letters(DeadLetterReason::window_full) == 1);
}

TEST_CASE("a record that waits for the end of an outage is never too old") {
  StuckLane test(config::LedgerPolicy::dead_letter, Outcome::unavailable("out", std::chrono::hours(2)));
  test.fill(20);
  for (int i = 0; i < 20; ++i) test.pass(std::chrono::minutes(1));
  REQUIRE(test.until_outstanding(0));
  CHECK(test.topic.letters().empty());
  CHECK(test.commit_offset() <= 0);
}

TEST_CASE("while the next attempt at the oldest record is queued, the error of the last one is known") {
  TestLane test;
  test.stage().settings.workers = 1;
  test.partition.add_run(0, 2);
  const auto oldest = [&] { return *test.lane->detail(test.now).oldest; };
  test.begin();
  test.handler.answer(0, Outcome::retry("HTTP 500"));
  REQUIRE(test.until_started({0, 1}));
  REQUIRE(test.until([&] { return oldest().phase == OldestRecord::Phase::waiting; }));
  test.pass(seconds(1));
  CHECK(oldest().phase == OldestRecord::Phase::queued);
  CHECK(oldest().attempt == 1);
  CHECK(oldest().failed_attempt == 1);
  CHECK(oldest().error == "HTTP 500");
}
