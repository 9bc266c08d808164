// Records that fail: attempts, dead letters, the breaker.
#include "lane/dead_letter_topic.h"
#include "lane/support.h"

using namespace laneway;
using namespace laneway::lane;
using delivery::DeadLetterReason;
using handler::Outcome;

TEST_CASE(
    "a rejected record goes to the dead-letter topic at once, and is complete when that acknowledged it") {
  FailingLane test;
  test.partition.add_run(0, 3);
  test.begin();
  test.handler.answer(0, Outcome::reject("HTTP 400"));
  test.handler.answer_done({1, 2});
  REQUIRE(test.until([&] { return test.commit_offset() == 3; }));
  REQUIRE(test.topic.letters().size() == 1);
  const auto [offset, history] = test.topic.letters().front();
  CHECK(offset == 0);
  CHECK(history.reason == "HTTP 400");
  CHECK(history.given_up == DeadLetterReason::rejected);
  CHECK(test.dead_letters(DeadLetterReason::rejected) == 1);
  CHECK(test.lane->stats().outcomes[static_cast<std::size_t>(OutcomeLabel::success)].get() == 2);
}

TEST_CASE("the log names the trace of a record that fails, where its header is valid") {
  const std::string trace = "4bf92f3577b34da6a3ce929d0e0e4736";
  for (const bool valid : {true, false}) {
    CapturedLog log;
    FailingLane test;
    test.partition.traceparent = "00-" + trace + (valid ? "-00f067aa0ba902b7-01" : "-00f067aa0ba902b7");
    test.partition.add(0);
    test.begin();
    test.handler.answer(0, Outcome::reject("HTTP 400"));
    REQUIRE(test.until([&] { return test.commit_offset() == 1; }));
    CHECK(log.lines({"record given up", "offset=0"}) == 1);
    CHECK(log.lines({"record given up", "trace_id=" + trace + " failures=1 outcome="}) == (valid ? 1 : 0));
    CHECK(log.lines({"trace_id"}) == (valid ? 1 : 0));
  }
}

TEST_CASE("a record that used up its attempts goes to the dead-letter topic, with the last reason") {
  FailingLane test;
  test.partition.add(0);
  test.begin();
  for (const char* reason : {"first", "second", "third"}) test.handler.answer(0, Outcome::retry(reason));
  REQUIRE(test.in_time([&] { return test.commit_offset() == 1; }));
  CHECK(test.handler.attempts(0) == std::vector<std::uint32_t>{1, 2, 3});
  CHECK(test.topic.letters().front().second.reason == "third");
  CHECK(test.dead_letters(DeadLetterReason::attempts_exhausted) == 1);
}

TEST_CASE(
    "a dead-letter topic that cannot be reached is asked until it can, and nothing beyond is committed") {
  FailingLane test;
  test.partition.add_run(0, 2);
  test.begin();
  test.topic.fail(10);
  test.handler.answer(0, Outcome::reject("no"));
  test.handler.answer(1);
  REQUIRE(test.until_outstanding(0));
  for (int i = 0; i < 4; ++i) {
    REQUIRE(test.until_outstanding(0));
    CHECK(test.commit_offset() <= 0);
    test.pass(milliseconds(10));
  }
  REQUIRE(test.in_time([&] { return test.commit_offset() == 2; }));
  CHECK(test.topic.offsets() == Offsets{0});
  CHECK(test.handler.attempts(0) == std::vector<std::uint32_t>{1});  // the handler is not asked again
}

TEST_CASE("the next record of a key waits until the dead letter of the one before is acknowledged") {
  FailingLane test;
  test.context.lanes.order = config::Order::key;
  test.partition.add(0, "a");
  test.partition.add(1, "a");
  test.partition.add(2, "b");
  test.begin();
  test.topic.fail(1);
  test.handler.answer(0, Outcome::reject("no"));
  test.handler.answer(2);
  REQUIRE(test.until_outstanding(0));
  CHECK(test.sorted(test.handler.started()) == Offsets{0, 2});
  test.handler.answer(1);
  REQUIRE(test.in_time([&] { return test.commit_offset() == 3; }));
  CHECK(test.topic.offsets() == Offsets{0});
}

TEST_CASE("a record that the flood guard holds back is tried again, and is no dead letter when that works") {
  FailingLane test;
  test.partition.add(0);
  test.begin();
  test.topic.flood(2);
  for (int i = 0; i < 2; ++i) test.handler.answer(0, Outcome::reject("a proxy says 400"));
  test.handler.answer(0);
  REQUIRE(test.in_time([&] { return test.commit_offset() == 1; }));
  CHECK(test.handler.attempts(0) == std::vector<std::uint32_t>{1, 2, 3});
  CHECK(test.topic.letters().empty());
}

TEST_CASE("a record that fails again when the flood is over is given up for what it was before") {
  FailingLane test;
  test.partition.add(0);
  test.begin();
  test.topic.flood(1);
  for (int i = 0; i < 4; ++i) test.handler.answer(0, Outcome::retry("never"));
  REQUIRE(test.in_time([&] { return test.commit_offset() == 1; }));
  CHECK(test.handler.attempts(0) == std::vector<std::uint32_t>{1, 2, 3, 4});
  CHECK(test.dead_letters(DeadLetterReason::attempts_exhausted) == 1);
}

TEST_CASE("a record that was given up because it ends the process is never tried again, flood or not") {
  FailingLane test;
  test.context.ledger = {std::chrono::minutes(10), config::LedgerPolicy::dead_letter};
  test.partition.add(0);
  test.begin();
  REQUIRE(test.until_started({0}));
  test.pass(milliseconds(1));
  test.pass(std::chrono::minutes(11));
  test.topic.flood(3);
  test.handler.answer(0, Outcome::retry("too late"));
  REQUIRE(test.in_time([&] { return test.commit_offset() == 1; }));
  CHECK(test.handler.attempts(0).size() == 1);
  CHECK(test.dead_letters(DeadLetterReason::too_old) == 1);
}

TEST_CASE("an outage uses up neither attempts nor their time, however long it lasts") {
  FailingLane test;
  test.context.retry.max_elapsed = seconds(2);
  test.context.retry.max_backoff = seconds(1);
  test.partition.add(0);
  test.begin();
  test.handler.answer(0, Outcome::retry("its own failure"));
  for (int i = 0; i < 100; ++i) test.handler.answer(0, Outcome::unavailable("out"));
  test.handler.answer(0, Outcome::retry("its own failure"));
  test.handler.answer(0);
  REQUIRE(test.in_time([&] { return test.commit_offset() == 1 || !test.topic.letters().empty(); }));
  CHECK(test.topic.letters().empty());
  CHECK(test.handler.attempts(0).back() == 3);
}

TEST_CASE("while the breaker is open nothing is begun, nothing is lost, and no attempt is used up") {
  Downstream downstream("test", {1, seconds(30), std::chrono::hours(1)}, {});
  FailingLane test;
  test.context.downstream = &downstream;
  test.partition.add_run(0, 20);
  test.begin();
  REQUIRE(test.until_started({0, 1, 2, 3}));
  for (int i = 0; i < 4; ++i) test.handler.answer(i, Outcome::unavailable("out"));
  REQUIRE(test.until_outstanding(0));
  CHECK_FALSE(downstream.closed());
  test.pass(milliseconds(20));
  CHECK(test.lane->state() == State::held);
  for (int i = 0; i < 20; ++i) test.pass(milliseconds(50));
  CHECK(test.handler.started().size() == 4);
  CHECK_FALSE(test.lane->commit_candidate());  // nothing is done, not even out of order
  CHECK(test.lane->stats().outcomes[static_cast<std::size_t>(OutcomeLabel::success)].get() == 0);
}

TEST_CASE("what this process lacks says nothing of the downstream and uses up no attempt") {
  Downstream downstream("test", {1, seconds(30), std::chrono::hours(1)}, {});
  FailingLane test;
  test.context.downstream = &downstream;
  test.context.ledger.policy = config::LedgerPolicy::dead_letter;
  test.partition.add(0);
  test.begin();
  for (int i = 0; i < 20; ++i) test.handler.answer(0, Outcome::local("too many open files"));
  test.handler.answer(0);
  REQUIRE(test.in_time([&] { return test.commit_offset() == 1 || !downstream.closed(); }));
  CHECK(downstream.closed());
  CHECK(test.topic.letters().empty());
  CHECK(test.handler.attempts(0) == std::vector<std::uint32_t>(21, 1));
}

TEST_CASE("the breaker lets one record ask, and when it is answered the others follow, once each") {
  Downstream downstream("test", {1, seconds(30), Duration::zero()}, {});
  FailingLane test;
  test.context.downstream = &downstream;
  test.partition.add_run(0, 40);
  test.begin();
  REQUIRE(test.until_started({0, 1, 2, 3}));
  for (int i = 0; i < 4; ++i) test.handler.answer(i, Outcome::unavailable("out"));
  // A failure that is told late opens the breaker again. A worker that has begun another record has told it.
  REQUIRE(test.until([&] { return test.handler.started().size() == 8; }));
  test.handler.open();
  REQUIRE(test.in_time([&] { return test.commit_offset() == 40; }));
  CHECK(downstream.closed());
  CHECK(test.topic.letters().empty());
  CHECK(test.handler.started().size() == 44);
  for (const auto offset : offsets(0, 40)) CHECK(test.handler.attempts(offset).back() == 1);
}

namespace {

/// A downstream that is out until it is not.
class Outage final : public handler::RecordHandler {
 public:
  std::string name() const override { return "outage"; }
  Duration timeout() const override { return std::chrono::hours(2); }
  void end() { out_ = false; }
  int asked() const { return asked_; }
  bool used_up() const { return used_up_; }

 private:
  Outcome handle_record(const handler::Attempt& attempt) override {
    if (attempt.number > 1) used_up_ = true;
    if (!out_) return Outcome::done();
    ++asked_;
    return Outcome::unavailable("out");
  }

  std::atomic<bool> out_{true}, used_up_{false};
  std::atomic<int> asked_{0};
};

}  // namespace

TEST_CASE("an outage of an hour ends with no dead letter, no attempt used up, and every record done") {
  Downstream downstream("test", {5, seconds(30), Duration::zero()}, {});
  Outage outage;
  FailingLane test;
  test.context.handler = &outage;
  test.context.downstream = &downstream;
  test.context.ledger.policy = config::LedgerPolicy::dead_letter;
  test.partition.add_run(0, 60);
  test.begin();
  for (int i = 0; i < 360; ++i) {
    test.pass(seconds(10));
    REQUIRE(test.until_outstanding(0));
  }
  CHECK_FALSE(downstream.closed());
  CHECK(outage.asked() > 10);
  CHECK(test.commit_offset() <= 0);
  outage.end();
  REQUIRE(test.in_time([&] { return test.commit_offset() == 60; }));
  CHECK(test.topic.letters().empty());
  CHECK_FALSE(outage.used_up());
}

TEST_CASE("the time that attempts take counts for max_elapsed") {
  struct Slow final : handler::RecordHandler {
    std::string name() const override { return "slow"; }
    Outcome handle_record(const handler::Attempt& attempt) override {
      std::this_thread::sleep_for(milliseconds(20));
      last = attempt.number;
      return Outcome::retry("slow");
    }
    std::atomic<std::uint32_t> last{0};
  } slow;
  FailingLane test;
  test.context.handler = &slow;
  test.context.retry.attempts = 1000;
  test.context.retry.backoff = test.context.retry.max_backoff = milliseconds(1);
  test.context.retry.max_elapsed = milliseconds(100);
  test.partition.add(0);
  test.begin();
  REQUIRE(test.in_time([&] { return test.commit_offset() == 1; }));
  CHECK(test.dead_letters(DeadLetterReason::retry_time_over) == 1);
  CHECK(slow.last <= 5);
}

TEST_CASE("calls that run into their time-out count as slow for the breaker, where that is wanted") {
  for (const bool wanted : {true, false}) {
    CAPTURE(wanted);
    Downstream downstream("test", {1, seconds(30), std::chrono::hours(1)},
                          wanted ? milliseconds(1) : Duration::zero());
    FailingLane test;
    test.context.downstream = &downstream;
    test.handler.job_timeout = milliseconds(20);
    test.partition.add(0);
    test.begin();
    REQUIRE(test.until([&] {
      test.pass(milliseconds(1));
      // The second attempt begins after the downstream has been told of the first.
      return wanted ? !downstream.closed() : test.handler.attempts(0).size() > 1;
    }));
    CHECK(downstream.closed() == !wanted);
  }
}

TEST_CASE("a drain does not wait for an open breaker: what it withholds is given back") {
  Downstream downstream("test", {1, seconds(30), std::chrono::hours(1)}, {});
  FailingLane test;
  test.context.downstream = &downstream;
  test.partition.add_run(0, 20);
  test.begin();
  test.handler.answer(0, Outcome::unavailable("out"));
  test.handler.answer_done({1, 2, 3});
  REQUIRE(test.until([&] { return !downstream.closed(); }));
  test.handler.answer_done(offsets(4, 20));
  test.lane->begin_drain(test.now, test.now + seconds(20));
  CHECK(test.until_drained());
  CHECK(test.commit_offset() <= 0);
}
