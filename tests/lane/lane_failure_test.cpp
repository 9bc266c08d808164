// Records that fail: attempts, dead letters, the breaker.
#include "lane/dead_letter_topic.h"
#include "lane/support.h"

using namespace laneway;
using namespace laneway::lane;
using delivery::DeadLetterReason;
using handler::Outcome;

TEST_CASE("a rejected record goes to the dead-letter topic at once, and finishes with the acknowledgement") {
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
  CHECK(test.lane->stats().outcomes[static_cast<std::size_t>(handler::OutcomeLabel::success)].get() == 2);
}

TEST_CASE("the log has the trace id of a failed record, if its header is valid") {
  const std::string trace = "4bf92f3577b34da6a3ce929d0e0e4736";
  for (const bool valid : {true, false}) {
    CapturedLog log;
    FailingLane test;
    test.partition.headers = {
        {"traceparent", "00-" + trace + (valid ? "-00f067aa0ba902b7-01" : "-00f067aa0ba902b7")}};
    test.partition.add(0);
    test.begin();
    test.handler.answer(0, Outcome::reject("HTTP 400"));
    REQUIRE(test.until([&] { return test.commit_offset() == 1; }));
    CHECK(log.lines({"\"dead letter\"", "offset=0"}) == 1);
    CHECK(log.lines({"\"dead letter\"", "trace_id=" + trace + " reason=rejected error="}) == (valid ? 1 : 0));
    CHECK(log.lines({"trace_id"}) == (valid ? 1 : 0));
  }
}

TEST_CASE("a record without attempts left goes to the dead-letter topic with its last reason") {
  FailingLane test;
  test.partition.add(0);
  test.begin();
  for (const char* reason : {"first", "second", "third"}) test.handler.answer(0, Outcome::retry(reason));
  REQUIRE(test.in_time([&] { return test.commit_offset() == 1; }));
  CHECK(test.handler.attempts(0) == std::vector<std::uint32_t>{1, 2, 3});
  CHECK(test.topic.letters().front().second.reason == "third");
  CHECK(test.dead_letters(DeadLetterReason::attempts_exhausted) == 1);
}

TEST_CASE("if records fail now and then and succeed later, a record gets more attempts") {
  Downstream downstream("test", {.breaker = {.failures = 1000}});
  FailingLane test;
  test.stage().downstream = &downstream;
  test.partition.add_run(0, 60);
  for (std::int64_t offset = 0; offset < 60; ++offset) {
    if (offset % 3 == 0) test.handler.answer(offset, Outcome::retry("HTTP 500"));
    test.handler.answer(offset);
  }
  test.begin();
  REQUIRE(test.in_time([&] { return test.commit_offset() == 60; }));
  for (int i = 0; i < 5; ++i) test.handler.answer(60, Outcome::retry("HTTP 500"));
  test.handler.answer(60);
  test.partition.add(60);
  REQUIRE(test.in_time([&] { return test.commit_offset() == 61; }));
  CHECK(test.handler.attempts(60) == std::vector<std::uint32_t>{1, 2, 3, 4, 5, 6});
  CHECK(test.topic.letters().empty());
}

TEST_CASE("failures of calls with several records are weak evidence of how often records fail") {
  Downstream downstream("test", {.breaker = {.failures = 1000}});
  FailingLane test;
  test.stage().downstream = &downstream;
  test.partition.add_run(0, 60);
  auto failed = Outcome::retry("HTTP 500");
  failed.same_call = true;
  for (std::int64_t offset = 0; offset < 60; ++offset) {
    if (offset % 3 == 0) test.handler.answer(offset, failed);
    test.handler.answer(offset);
  }
  test.begin();
  REQUIRE(test.in_time([&] { return test.commit_offset() == 60; }));
  for (int i = 0; i < 3; ++i) test.handler.answer(60, Outcome::retry("HTTP 500"));
  test.handler.answer(60);
  test.partition.add(60);
  REQUIRE(test.in_time([&] { return test.commit_offset() == 61; }));
  CHECK(test.topic.offsets() == Offsets{60});
}

TEST_CASE("an unreachable dead-letter topic is retried, and nothing beyond is committed") {
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

TEST_CASE("the next record of a key waits until the previous record's dead letter is acknowledged") {
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

TEST_CASE("when nearly all records are rejected, no more are given up, and they are retried") {
  const auto failures =
      GENERATE(0U, 5U);  // a call that finds a record wrong has worked, but no record is done
  Downstream downstream("test", {.breaker = {.failures = failures}, .most_rejections = 1});
  FailingLane test;
  test.stage().downstream = &downstream;
  test.partition.add_run(0, 70);
  test.begin();
  for (int i = 0; i < 70; ++i) test.handler.answer(i, Outcome::reject("a proxy says 400"));
  // Without time: a second lets one more be given up.
  REQUIRE(
      test.until([&] { return test.handler.started().size() >= 70 && test.topic.letters().size() == 60; }));
  test.handler.open();
  REQUIRE(test.in_time([&] { return test.commit_offset() == 70; }));
  CHECK(test.topic.letters().size() == 60);
}

TEST_CASE("successful records outweigh rejections, also without a breaker") {
  Downstream downstream("test", {.breaker = {.failures = 0}, .most_rejections = 1});
  FailingLane test;
  test.stage().downstream = &downstream;
  for (std::int64_t first = 0; first < 200; first += 2) {
    test.partition.add_run(first, first + 2);
    test.handler.answer(first);
    test.handler.answer(first + 1, Outcome::reject("HTTP 400"));
  }
  test.begin();
  REQUIRE(test.in_time([&] { return test.commit_offset() == 200; }));
  CHECK(test.topic.letters().size() == 100);
  CHECK(test.handler.started().size() == 200);
}

TEST_CASE("a record that is given up for holding back the commits is not retried") {
  FailingLane test;
  test.context.ledger = {std::chrono::minutes(10), config::LedgerPolicy::dead_letter};
  test.partition.add(0);
  test.begin();
  REQUIRE(test.until_started({0}));
  test.pass(milliseconds(1));
  test.pass(std::chrono::minutes(11));
  test.handler.answer(0, Outcome::retry("too late"));
  REQUIRE(test.in_time([&] { return test.commit_offset() == 1; }));
  CHECK(test.handler.attempts(0).size() == 1);
  CHECK(test.dead_letters(DeadLetterReason::too_old) == 1);
}

TEST_CASE("an outage uses up neither attempts nor their time, however long") {
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

TEST_CASE("an attempt from the onset of an outage is given back before the next attempt begins") {
  Downstream downstream("test", {.breaker = {2, seconds(30), Duration::zero()}});
  FailingLane test;
  test.stage().downstream = &downstream;
  test.partition.add_run(0, 2);
  test.begin();
  test.handler.answer(0, Outcome::retry("HTTP 500"));
  REQUIRE(
      test.until([&] { return test.lane->detail(test.now).oldest->phase == OldestRecord::Phase::waiting; }));
  test.handler.answer(1, Outcome::retry("HTTP 500"));
  REQUIRE(test.until([&] { return !downstream.closed(); }));
  test.handler.open();
  REQUIRE(test.in_time([&] { return test.commit_offset() == 2; }));
  CHECK(test.handler.attempts(0) == std::vector<std::uint32_t>{1, 1});
  CHECK(test.handler.attempts(1) == std::vector<std::uint32_t>{1, 1});
}

TEST_CASE("while the breaker is open, no record begins, none is lost, and no attempt is used up") {
  Downstream downstream("test", {.breaker = {1, seconds(30), std::chrono::hours(1)}});
  FailingLane test;
  test.stage().downstream = &downstream;
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
  CHECK_FALSE(test.lane->commit_candidate());  // no record is done, not even out of order
  CHECK(test.lane->stats().outcomes[static_cast<std::size_t>(handler::OutcomeLabel::success)].get() == 0);
}

TEST_CASE("a local fault is not the downstream's failure and uses up no attempt") {
  Downstream downstream("test", {.breaker = {1, seconds(30), std::chrono::hours(1)}});
  FailingLane test;
  test.stage().downstream = &downstream;
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

TEST_CASE("the breaker lets one record probe, and after a success the others follow, once each") {
  Downstream downstream("test", {.breaker = {1, seconds(30), Duration::zero()}});
  FailingLane test;
  test.stage().downstream = &downstream;
  test.partition.add_run(0, 40);
  test.begin();
  REQUIRE(test.until_started({0, 1, 2, 3}));
  for (int i = 0; i < 4; ++i) test.handler.answer(i, Outcome::unavailable("out"));
  // A failure that is reported late opens the breaker again. A worker that has begun another record has
  // reported it.
  REQUIRE(test.until([&] { return test.handler.started().size() == 8; }));
  test.handler.open();
  REQUIRE(test.in_time([&] { return test.commit_offset() == 40; }));
  CHECK(downstream.closed());
  CHECK(test.topic.letters().empty());
  CHECK(test.handler.started().size() == 44);
  for (const auto offset : offsets(0, 40)) CHECK(test.handler.attempts(offset).back() == 1);
}

TEST_CASE("the last requests of a stream show an outage once all of their records have failed") {
  Downstream downstream("test", {.breaker = {5, seconds(30), std::chrono::hours(1)}});
  FailingLane test;
  test.stage().downstream = &downstream;
  test.stage().settings.workers = 10;
  test.partition.add_run(0, 10);  // five requests of two records
  test.begin();
  REQUIRE(test.until([&] { return test.handler.started().size() == 10; }));
  const auto failed = [&] { return downstream.report(SteadyClock::now()).calls.failed; };
  for (int i = 0; i < 10; i += 2) test.handler.answer(i, Outcome::retry("HTTP 500"));
  REQUIRE(test.until([&] { return failed() == 5; }));
  CHECK(downstream.closed());
  auto second = Outcome::retry("HTTP 500");
  second.same_call = true;
  for (int i = 1; i < 10; i += 2) test.handler.answer(i, second);
  CHECK(test.until([&] { return !downstream.closed(); }));
  CHECK(failed() == 5);
}

TEST_CASE("records left behind by an earlier life are not the first probes") {
  Downstream downstream("test", {.breaker = {1, seconds(30), std::chrono::hours(1)}});
  FailingLane test;
  test.stage().downstream = &downstream;
  test.partition.add_run(0, 60);
  test.begin(0, encode({0, {{20, 40}}}));  // 0 to 19 may all be poison records
  REQUIRE(test.until_started({0, 1, 2, 3}));
  for (int i = 0; i < 20; ++i) test.handler.answer(i, Outcome::retry("poison"));
  REQUIRE(test.until([&] {
    downstream.settle(SteadyClock::now() + seconds(2));  // the records above 40 run, and have no answer
    return !downstream.closed() && test.partition.next > 40;
  }));
  for (int i = 40; i < 60; ++i) test.handler.answer(i, Outcome::retry("out"));
  REQUIRE(test.until_outstanding(0));
  const auto before = test.handler.started().size();
  // One probe may begin now, and another one not before the test has ended.
  downstream.change({.breaker = {1, seconds(30), std::chrono::minutes(59)}},
                    SteadyClock::now() - std::chrono::hours(1));
  test.pass_since_now(milliseconds(1));
  REQUIRE(test.until([&] { return test.handler.started().size() > before; }));
  CHECK(test.handler.started().back() >= 40);
}

namespace {

/// A downstream that is out until it is not.
class Outage final : public handler::RecordHandler {
 public:
  explicit Outage(Outcome failure) : failure_(std::move(failure)) {}
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
    return failure_;
  }

  const Outcome failure_;
  std::atomic<bool> out_{true}, used_up_{false};
  std::atomic<int> asked_{0};
};

}  // namespace

TEST_CASE("an outage of an hour ends with no dead letter, no attempt used up, and every record done") {
  const bool is_certain = GENERATE(true, false);
  Downstream downstream("test", {.breaker = {4, seconds(30), Duration::zero()}});
  Outage outage(is_certain ? Outcome::unavailable("out") : Outcome::retry("HTTP 500"));
  FailingLane test;
  test.stage().handler = &outage;
  test.stage().downstream = &downstream;
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

TEST_CASE("if too many poison records wait, another record shows the end of an outage") {
  struct Poisoned final : handler::RecordHandler {
    std::string name() const override { return "poisoned"; }
    Outcome handle_record(const handler::Attempt& attempt) override {
      return attempt.record.offset() < 4 ? Outcome::retry("HTTP 500") : Outcome::done();
    }
  } poisoned;
  Downstream downstream("test", {.breaker = {3, seconds(30), milliseconds(1)}});
  FailingLane test;
  test.stage().handler = &poisoned;
  test.stage().downstream = &downstream;
  test.context.retry.max_waiting = 4;
  test.context.retry.max_backoff = milliseconds(200);
  test.partition.add_run(0, 4);
  test.begin();
  REQUIRE(
      test.until([&] { return test.lane->stats().waiting_retries.get() == 4 || (test.pass({}), false); }));
  CHECK_FALSE(downstream.closed());
  test.partition.add_run(4, 60);
  // The workers ask the breaker at the real time, so a number of turns is no measure.
  CHECK(test.until([&] { return test.commit_offset() == 60 || (test.pass(milliseconds(50)), false); }));
  CHECK(test.topic.letters().size() == 4);
}

TEST_CASE("the duration of attempts counts for max_elapsed") {
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
  test.stage().handler = &slow;
  test.context.retry.attempts = 1000;
  test.context.retry.backoff = test.context.retry.max_backoff = milliseconds(1);
  test.context.retry.max_elapsed = milliseconds(100);
  test.partition.add(0);
  test.begin();
  REQUIRE(test.in_time([&] { return test.commit_offset() == 1; }));
  CHECK(test.dead_letters(DeadLetterReason::retry_time_over) == 1);
  CHECK(slow.last <= 5);
}

TEST_CASE("calls that time out count as failures of the downstream") {
  Downstream downstream("test", {.breaker = {1, seconds(30), std::chrono::hours(1)}});
  FailingLane test;
  test.stage().downstream = &downstream;
  test.handler.job_timeout = milliseconds(20);
  test.partition.add(0);
  test.begin();
  CHECK(test.until([&] {
    test.pass(milliseconds(1));
    return !downstream.closed();
  }));
}

TEST_CASE("a drain does not wait for an open breaker, and gives back its records") {
  Downstream downstream("test", {.breaker = {1, seconds(30), std::chrono::hours(1)}});
  FailingLane test;
  test.stage().downstream = &downstream;
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
