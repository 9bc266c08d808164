// What the breaker counts: calls of the downstream, whatever the number of their records.
#include "lane/support.h"

using namespace laneway;
using namespace laneway::lane;
using handler::Outcome;

namespace {

/// Its breaker opens at the second failure, and asks again in an hour.
struct CallingLane : TestLane {
  CallingLane() { context.downstream = &downstream; }
  ~CallingLane() {
    handler.open();
    lane.reset();
  }

  Downstream downstream{"test", {2, seconds(30), std::chrono::hours(1)}, {}};
};

}  // namespace

TEST_CASE("a call that fails for several records is one failure of the downstream") {
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
  CHECK(test.in_time([&] { return !test.downstream.closed(); }));
}

TEST_CASE("records that are done by one call do not outvote the calls that fail") {
  CallingLane test;
  test.context.lanes.workers = 5;
  test.partition.add_run(0, 5);
  test.begin();
  REQUIRE(test.until_started({0, 1, 2, 3, 4}));
  test.handler.answer(0, Outcome::unavailable("HTTP 502"));
  REQUIRE(test.until_outstanding(4));
  auto done = Outcome::done();
  test.handler.answer(1, done);
  done.same_call = true;
  test.handler.answer(2, done);
  test.handler.answer(3, done);
  REQUIRE(test.until_outstanding(1));
  CHECK(test.downstream.closed());
  test.handler.answer(4, Outcome::unavailable("HTTP 502"));
  CHECK(test.until([&] { return !test.downstream.closed(); }));  // two of three calls
}

namespace {

/// Works on all of a task at once, as a plugin with batches does.
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

TEST_CASE("a task that a handler works on at once is one call") {
  AtOnce handler;
  CallingLane test;
  handler.downstream = &test.downstream;
  test.context.handler = &handler;
  test.context.lanes.workers = 1;
  test.partition.add_run(0, 16);
  test.begin();
  REQUIRE(test.in_time([&] { return handler.calls == 2 || !test.downstream.closed(); }));
  CHECK(handler.calls == 2);
  CHECK(handler.closed_before);
  CHECK(handler.first_records > 1);
  CHECK(test.until([&] { return !test.downstream.closed(); }));
}

TEST_CASE("a task of which the downstream answers one record is no failure") {
  AtOnce handler;
  handler.answers_one = true;
  CallingLane test;
  handler.downstream = &test.downstream;
  test.context.handler = &handler;
  test.context.lanes.workers = 1;
  test.partition.add_run(0, 16);
  test.begin();
  CHECK(test.in_time([&] { return test.commit_offset() == 16; }));
  CHECK(test.downstream.closed());
}
