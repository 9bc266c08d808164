// What the breaker counts: calls of the downstream, whatever the number of their records.
#include "lane/support.h"

using namespace laneway;
using namespace laneway::lane;
using handler::Outcome;

namespace {

/// Its breaker opens at the second failure, and probes after an hour.
struct CallingLane : TestLane {
  CallingLane() { stage().downstream = &downstream; }
  ~CallingLane() {
    handler.open();
    lane.reset();
  }

  Downstream downstream{"test", {.breaker = {2, seconds(30), std::chrono::hours(1)}}};
};

}  // namespace

TEST_CASE("a failed call with several records is one failure of the downstream") {
  CallingLane test;
  test.partition.add_run(0, 3);
  test.begin();
  REQUIRE(test.until_started({0, 1, 2}));
  auto outcome = Outcome::unavailable("HTTP 502");
  test.handler.answer(0, outcome);
  outcome.same_call = true;
  test.handler.answer(1, outcome);
  test.handler.answer(2, outcome);
  REQUIRE(test.until_outstanding(0));
  CHECK(test.downstream.closed());
  test.handler.answer(0, Outcome::unavailable("HTTP 502"));
  test.pass(seconds(1));
  CHECK(test.until([&] { return !test.downstream.closed(); }));
}

namespace {

std::vector<std::string> sorted_kinds(const delivery::CallReport& report) {
  std::vector<std::string> names;
  for (const auto& kind : report.kinds) names.push_back(kind.name);
  std::sort(names.begin(), names.end());
  return names;
}

Outcome failure_of(handler::Cause cause, const char* reason) {
  auto outcome = Outcome::retry(reason);
  outcome.cause = cause;
  return outcome;
}

}  // namespace

TEST_CASE("a time-out and an exception are reported as such, whatever the handler's text") {
  TestLane test;
  test.partition.add_run(0, 4);
  test.begin();
  REQUIRE(test.until_started({0, 1, 2, 3}));
  test.handler.answer(0, failure_of(handler::Cause::timeout, "the program did not answer and was killed"));
  test.handler.answer(1, failure_of(handler::Cause::panic, "the handler threw: bad_alloc"));
  test.handler.answer(2, Outcome::unavailable("no connection in time: SYN"));
  test.handler.answer(3);
  REQUIRE(test.until_outstanding(0));
  const auto report = test.no_breaker.report(SteadyClock::now());
  CHECK(report.calls.calls == 4);
  CHECK(sorted_kinds(report.calls) ==
        std::vector<std::string>{"error in the handler", "no connection in time", "time-out"});
  CHECK(report.totals[static_cast<std::size_t>(delivery::CallOutcome::timeout)] == 1);
}

namespace {

/// Handles all records of a task at once, as a plugin with batches does.
class AtOnce final : public handler::Handler {
 public:
  std::string name() const override { return "at once"; }
  bool fills_tasks() const override { return true; }
  void handle(handler::Task task) noexcept override {
    closed_before = downstream->closed();
    if (calls == 0) first_records = task.size();
    for (std::uint32_t i = 0; i < task.size(); ++i) {
      task.attempt(i);
      const bool good = answers_one && i == 0;
      task.answer(i, good ? Outcome::done() : Outcome::unavailable("out"));
    }
    ++calls;
  }

  std::atomic<int> calls{0};
  std::atomic<std::uint32_t> first_records{0};
  std::atomic<bool> closed_before{false}, answers_one{false};
  const Downstream* downstream = nullptr;
};

}  // namespace

TEST_CASE("failures of a task form a row only without a success between them") {
  struct Instant final : handler::RecordHandler {  // so that workers claim many records together
    std::string name() const override { return "instant"; }
    Outcome handle_record(const handler::Attempt& attempt) override {
      return attempt.record.offset() % 10 == 9 ? Outcome::retry("poison") : Outcome::done();
    }
  } instant;
  Downstream downstream("test", {.breaker = {5, seconds(30), std::chrono::hours(1)}});
  TestLane test;
  test.stage().downstream = &downstream;
  test.stage().handler = &instant;
  test.stage().settings.workers = 1;
  test.stage().settings.queue = 256;
  test.partition.add_run(0, 2000);
  test.begin();
  const auto success = static_cast<std::size_t>(handler::OutcomeLabel::success);
  CHECK(test.in_time([&] { return test.lane->stats().outcomes[success].get() == 1800; }));
  CHECK(downstream.closed());
}

TEST_CASE("a task that a handler runs at once is one call") {
  AtOnce handler;
  CallingLane test;
  handler.downstream = &test.downstream;
  test.stage().handler = &handler;
  test.stage().settings.workers = 1;
  test.partition.add_run(0, 16);
  test.begin();
  REQUIRE(test.in_time([&] { return handler.calls == 2 || !test.downstream.closed(); }));
  CHECK(handler.calls == 2);
  CHECK(handler.closed_before);
  CHECK(handler.first_records > 1);
  CHECK(test.until([&] { return !test.downstream.closed(); }));
}

TEST_CASE("a task with one answered record is not a failure of the downstream") {
  AtOnce handler;
  handler.answers_one = true;
  CallingLane test;
  handler.downstream = &test.downstream;
  test.stage().handler = &handler;
  test.stage().settings.workers = 1;
  test.partition.add_run(0, 16);
  test.begin();
  CHECK(test.in_time([&] { return test.commit_offset() == 16; }));
  CHECK(test.downstream.closed());
}
