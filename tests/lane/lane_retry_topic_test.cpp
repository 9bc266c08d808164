// Records that go on to a retry topic, and lanes that read one.
#include "delivery/dead_letter/retry_headers.h"
#include "lane/support.h"

using namespace laneway;
using namespace laneway::lane;
using handler::Outcome;
using handler::Route;

namespace {

/// Stands for the topics that records go on to: remembers its records, and answers as the test decides.
class NextTopics final : public handler::RecordHandler {
 public:
  struct Taken {
    Route route;
    std::int64_t offset;
    std::uint32_t attempts;
    std::string to;
    auto operator<=>(const Taken&) const = default;
  };
  std::string name() const override { return "next topics"; }
  void answer_once(Outcome outcome) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    answers_.push_back(std::move(outcome));
  }
  std::vector<Taken> taken() const EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return taken_;
  }

 private:
  Outcome handle_record(const handler::Attempt& attempt) override EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    if (!answers_.empty()) {
      auto outcome = std::move(answers_.front());
      answers_.erase(answers_.begin());
      return outcome;
    }
    const auto& failures = *attempt.failures;
    const auto to = failures.route == Route::retry_topic ? failures.retry_step->next : "dead letters";
    taken_.push_back({failures.route, attempt.record.offset(), attempt.number, to});
    return Outcome::done();
  }

  mutable Mutex mutex_;
  std::vector<Taken> taken_ GUARDED_BY(mutex_);
  std::vector<Outcome> answers_ GUARDED_BY(mutex_);
};
using Taken = std::vector<NextTopics::Taken>;

/// The simulated partition is of the topic "orders".
struct RetryingLane : TestLane {
  explicit RetryingLane(const delivery::RetrySteps& all) : steps(all) {
    context.forward = &next;
    context.retry_steps = &steps;
    context.retry.attempts = 2;
    stage().settings.queue = 64;
  }
  ~RetryingLane() {
    handler.open();
    lane.reset();
  }

  delivery::RetrySteps steps;
  NextTopics next;
};

delivery::RetrySteps as_source() {
  delivery::RetrySteps steps;
  steps.add("orders", {{"orders-retry-5s", seconds(5)}});
  return steps;
}

delivery::RetrySteps as_retry_topic() {
  delivery::RetrySteps steps;
  steps.add("source", {{"orders", seconds(5)}, {"last", seconds(60)}});
  return steps;
}

}  // namespace

TEST_CASE("a record without attempts left goes to the retry topic, and a rejected one to the dead letters") {
  RetryingLane test(as_source());
  test.partition.add_run(0, 3);
  test.begin();
  test.handler.answer(0, Outcome::retry("not now"));
  test.handler.answer(0, Outcome::retry("not now"));
  test.handler.answer(1, Outcome::reject("never"));
  test.handler.answer(2);
  REQUIRE(test.in_time([&] { return test.commit_offset() == 3; }));
  auto taken = test.next.taken();
  std::sort(taken.begin(), taken.end());
  CHECK(taken ==
        Taken{{Route::retry_topic, 0, 2, "orders-retry-5s"}, {Route::dead_letter, 1, 1, "dead letters"}});
  CHECK(test.lane->stats().retry_topics.get() == 1);
}

TEST_CASE("nothing beyond a record is committed before its retry topic has acknowledged the record") {
  RetryingLane test(as_source());
  test.context.retry.attempts = 1;
  test.partition.add_run(0, 2);
  test.begin();
  for (int i = 0; i < 5; ++i) test.next.answer_once(Outcome::unavailable("no broker"));
  test.handler.answer(0, Outcome::retry("not now"));
  test.handler.answer(1);
  for (int i = 0; i < 4; ++i) {
    REQUIRE(test.until_outstanding(0));
    CHECK(test.commit_offset() <= 0);
    test.pass(milliseconds(10));
  }
  REQUIRE(test.in_time([&] { return test.commit_offset() == 2; }));
  CHECK(test.next.taken() == Taken{{Route::retry_topic, 0, 1, "orders-retry-5s"}});
  CHECK(test.handler.attempts(0) == std::vector<std::uint32_t>{1});
}

TEST_CASE("a record that its retry topic will never accept becomes a dead letter") {
  RetryingLane test(as_source());
  test.context.retry.attempts = 1;
  test.partition.add(0);
  test.begin();
  test.next.answer_once(Outcome::reject("too large"));
  test.handler.answer(0, Outcome::retry("not now"));
  REQUIRE(test.in_time([&] { return test.commit_offset() == 1; }));
  CHECK(test.next.taken() == Taken{{Route::dead_letter, 0, 1, "dead letters"}});
  using delivery::DeadLetterReason;
  const auto why = static_cast<std::size_t>(DeadLetterReason::attempts_exhausted);
  CHECK(test.lane->stats().dead_letters[why].get() == 1);
}

TEST_CASE("a record of a retry topic begins after its delay, and has one attempt") {
  RetryingLane test(as_retry_topic());
  test.partition.add_run(0, 2);
  test.begin();
  test.handler.answer(0);
  test.handler.answer(1, Outcome::retry("not now"));
  test.work();
  test.pass(milliseconds(4999));
  CHECK(test.handler.started().empty());
  CHECK(test.commit_offset() <= 0);
  test.pass(milliseconds(1));
  REQUIRE(test.until([&] { return test.commit_offset() == 2; }));
  CHECK(test.handler.attempts(1) == std::vector<std::uint32_t>{1});
  CHECK(test.next.taken() == Taken{{Route::retry_topic, 1, 1, "last"}});
}

TEST_CASE("attempts continue from the counted attempts of earlier topics") {
  RetryingLane test(as_retry_topic());
  delivery::RetryOrigin origin;
  origin.topic = "source";
  origin.partition = 1;
  origin.offset = 70;
  origin.attempts = 4;
  for (const auto& header : delivery::retry_headers({}, origin))
    test.partition.headers.emplace_back(header.name, header.value);
  test.partition.add(0);
  test.begin();
  test.handler.answer(70, Outcome::unavailable("out"));
  test.handler.answer(70, Outcome::retry("not now"));
  REQUIRE(test.in_time([&] { return test.commit_offset() == 1; }));
  CHECK(test.handler.attempts(70) == std::vector<std::uint32_t>{5, 5});
  CHECK(test.next.taken() == Taken{{Route::retry_topic, 70, 5, "last"}});
}

TEST_CASE("the log names the origin of a dead letter that was read from a retry topic") {
  CapturedLog log;
  RetryingLane test(as_retry_topic());
  test.partition.add(0);
  test.begin();
  test.handler.answer(0, Outcome::reject("never"));
  test.work();
  test.pass(seconds(5));
  REQUIRE(test.until([&] { return test.commit_offset() == 1; }));
  CHECK(log.lines({"msg=\"dead letter\" topic=orders partition=3 offset=0 ", " origin=orders:3:0 "}) == 1);
}

TEST_CASE("the age of a retry topic's oldest record counts from its due time") {
  RetryingLane test(as_retry_topic());
  test.partition.add(0);
  test.begin();
  test.work();
  const auto due = test.now + seconds(5);
  const auto counts_from = [&] { return TimePoint(Duration(test.lane->stats().oldest.due_ns.get())); };
  test.pass(milliseconds(100));
  CHECK(counts_from() == due);
  CHECK(test.lane->stats().oldest.since_ns.get() < due.time_since_epoch().count());
  test.handler.answer(0, Outcome::unavailable("out"));
  test.pass(seconds(5));
  REQUIRE(test.until_outstanding(0));
  test.pass(milliseconds(1));
  CHECK(counts_from() == due);  // waiting for another attempt does not postpone the time
  test.handler.answer(0);
  REQUIRE(test.in_time([&] { return test.commit_offset() == 1; }));
  CHECK(test.in_time([&] { return test.lane->stats().oldest.due_ns.get() == 0; }));
}

TEST_CASE("due records run while others wait, and finish nothing else") {
  // At once, so that workers claim many records together.
  struct Instant final : handler::RecordHandler {
    std::string name() const override { return "instant"; }
    Outcome handle_record(const handler::Attempt&) override { return {}; }
  } instant;
  RetryingLane test(as_retry_topic());
  test.stage().handler = &instant;
  test.stage().settings.queue = 256;
  test.partition.add_run(0, 2000);
  for (std::size_t i = 0; i < 2000; ++i)
    if (i % 4 != 3) test.partition.log[i].timestamp = 0;  // long due
  test.begin();
  REQUIRE(test.until_outstanding(0));
  REQUIRE(test.until([&] { return test.partition.next == 2000; }));
  REQUIRE(test.until_outstanding(0));
  test.pass(milliseconds(4000));
  CHECK(test.lane->stats().waiting_retries.get() == 500);
  CHECK(test.commit_offset() == 3);
  REQUIRE(test.in_time([&] { return test.commit_offset() == 2000; }));
  CHECK(test.lane->stats().outcomes[static_cast<std::size_t>(handler::OutcomeLabel::success)].get() == 2000);
}

TEST_CASE("an outage keeps a record in its retry topic, and uses up no attempt") {
  RetryingLane test(as_retry_topic());
  test.partition.add(0);
  test.begin();
  for (int i = 0; i < 6; ++i) test.handler.answer(0, Outcome::unavailable("out"));
  test.handler.answer(0);
  REQUIRE(test.in_time([&] { return test.commit_offset() == 1; }));
  CHECK(test.next.taken().empty());
  CHECK(test.handler.attempts(0) == std::vector<std::uint32_t>(7, 1));
}

TEST_CASE("waiting records of a retry topic are bounded: at the bound their lane pauses until they are due") {
  RetryingLane test(as_retry_topic());
  test.context.retry.max_waiting = 20;
  test.partition.add_run(0, 100);
  test.begin();
  test.handler.open();
  test.work();
  test.pass(milliseconds(50));
  CHECK(test.lane->stats().waiting_retries.get() == 20);
  CHECK(test.lane->state() == State::held);
  test.pass(seconds(2));
  CHECK(test.lane->state() == State::paused);
  CHECK(test.lane->stats().waiting_retries.get() == 20);  // including records that had been fetched
  REQUIRE(test.in_time([&] { return test.commit_offset() == 100; }));
  CHECK(test.handler.started().size() == 100);
  test.pass(milliseconds(1));  // publishes the number
  CHECK(test.lane->stats().record_bytes.get() == 0);
}

TEST_CASE("a drain gives back records that are not due") {
  RetryingLane test(as_retry_topic());
  test.partition.add_run(0, 10);
  test.begin();
  test.work();
  test.lane->begin_drain(test.now, test.now + seconds(20));
  CHECK(test.until_drained());
  CHECK(test.commit_offset() <= 0);
  CHECK(test.handler.started().empty());
}

TEST_CASE("a retry topic that was made anew is read from its start, although it has grown past the old one") {
  RetryingLane test(as_retry_topic());
  const auto written = [&](std::int64_t begin, std::int64_t end, std::int64_t at) {
    for (auto offset = begin; offset < end; ++offset)
      test.partition.log.push_back({kafka::Pop::record, offset, {}, 0, at});
  };
  test.handler.open();
  const auto before = wall_clock_ms() - 60'000;  // due at once
  written(100, 103, before);
  test.begin(100);
  REQUIRE(test.in_time([&] { return test.commit() == 103; }));
  test.partition.log = {{kafka::Pop::gone, 0, {}}};
  test.partition.next = 0;
  test.work();
  test.partition.goes_back();
  written(50, 110, before + 1000);
  test.partition.go_to(103);
  test.work();
  REQUIRE(test.lane->position_in_doubt());
  test.partition.answers(50, 110);
  CHECK(test.in_time([&] { return test.commit_offset() == 110; }));
  CHECK(test.handler.started().size() == 3 + 60);
}
