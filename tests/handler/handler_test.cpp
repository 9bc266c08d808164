#include "handler/handler.h"

#include <functional>
#include <stdexcept>

#include "catch.h"
#include "run.h"

using namespace laneway;
using namespace laneway::handler;

namespace {

class Scripted final : public RecordHandler {
 public:
  explicit Scripted(std::function<Outcome(const Attempt&)> script) : script_(std::move(script)) {}
  std::string name() const override { return "scripted"; }

 protected:
  Outcome handle_record(const Attempt& attempt) override { return script_(attempt); }

 private:
  std::function<Outcome(const Attempt&)> script_;
};

std::vector<kafka::RecordData> numbered_records(int count) {
  std::vector<kafka::RecordData> out;
  for (int i = 0; i < count; ++i) out.push_back(record_data(i, "v"));
  return out;
}

}  // namespace

TEST_CASE("an exception of a handler is a retry with cause panic, and the next record runs") {
  Run run(numbered_records(3));
  Scripted handler([](const Attempt& attempt) -> Outcome {
    if (attempt.record.offset() == 0) throw std::runtime_error("no such order");
    if (attempt.record.offset() == 1) throw 7;
    return Outcome::done();
  });
  handler.handle(run.task());
  REQUIRE(run.result().failures.size() == 2);
  const auto& first = run.result().failures[0].outcome;
  CHECK(first.verdict == Verdict::retry);
  CHECK(first.cause == Cause::panic);
  CHECK(first.reason == "the handler threw: no such order");
  CHECK(run.result().failures[1].outcome.cause == Cause::panic);
  CHECK(run.result().done == 1);
  CHECK(run.state(2) == ItemState::done);
}

TEST_CASE("a sequential task stops at the first failure, and the rest stays waiting") {
  Run run(numbered_records(3), true);
  std::vector<std::int64_t> seen;
  Scripted handler([&](const Attempt& attempt) {
    seen.push_back(attempt.record.offset());
    return attempt.record.offset() == 1 ? Outcome::reject("bad") : Outcome::done();
  });
  handler.handle(run.task());
  CHECK(seen == std::vector<std::int64_t>{0, 1});
  CHECK(run.state(0) == ItemState::done);
  CHECK(run.state(1) == ItemState::failed);
  CHECK(run.state(2) == ItemState::unanswered);
  REQUIRE(run.result().failures.size() == 1);
  CHECK(run.result().failures[0].index == 1);
}

TEST_CASE("a task that is recalled ends after the running record, and the rest stays waiting") {
  const bool sequential = GENERATE(false, true);
  Run run(numbered_records(3), sequential);
  Scripted handler([&](const Attempt& attempt) {
    if (attempt.record.offset() == 1) run.want_back();
    return Outcome::done();
  });
  handler.handle(run.task());
  CHECK(run.result().done == 2);
  CHECK(run.result().failures.empty());
  CHECK(run.state(2) == ItemState::unanswered);
}

TEST_CASE("failures come in the order of the records, in whatever order they were answered") {
  Run run(numbered_records(4));
  {
    auto task = run.task();
    for (const std::uint32_t index : {3, 0, 2, 1}) {
      (void)task.attempt(index);
      task.answer(index, index == 2 ? Outcome::done() : Outcome::retry("number " + std::to_string(index)));
    }
  }
  REQUIRE(run.result().failures.size() == 3);
  CHECK(run.result().failures[0].index == 0);
  CHECK(run.result().failures[1].index == 1);
  CHECK(run.result().failures[2].index == 3);
  CHECK(run.result().failures[2].outcome.reason == "number 3");
}

TEST_CASE("a task that is not sequential goes on after a failure") {
  Run run(numbered_records(3));
  Scripted handler([](const Attempt& attempt) {
    return attempt.record.offset() == 1 ? Outcome::reject("bad") : Outcome::done();
  });
  handler.handle(run.task());
  CHECK(run.result().done == 2);
  CHECK(run.result().failures.size() == 1);
}

TEST_CASE("a failure after the stop was requested has cause timeout") {
  Run run(numbered_records(1));
  Scripted handler([&](const Attempt&) {
    run.stop();
    return Outcome::retry("gave up");
  });
  CHECK(outcome_of(handler, run).cause == Cause::timeout);
}

TEST_CASE("work that finishes despite a stop counts as done") {
  Run run(numbered_records(1));
  Scripted handler([&](const Attempt&) {
    run.stop();
    return Outcome::done();
  });
  handler.handle(run.task());
  CHECK(run.result().done == 1);
  CHECK(run.result().failures.empty());
  CHECK(run.outcomes().at(0).cause == Cause::verdict);
}

TEST_CASE("records that an asynchronous handler never answers stay waiting") {
  Run run(numbered_records(2));
  {
    Task kept = run.task();
    kept.attempt(0);
    kept.answer(0, Outcome::done());
    CHECK_FALSE(run.ended());
  }
  REQUIRE(run.ended());
  CHECK(run.state(0) == ItemState::done);
  CHECK(run.state(1) == ItemState::unanswered);
  CHECK(run.result().failures.empty());
}

TEST_CASE("a handler gets the number of the attempt") {
  std::uint32_t seen = 0;
  Scripted handler([&](const Attempt& attempt) {
    seen = attempt.number;
    return Outcome::done();
  });
  outcome_of(handler, record_data(0, "v"), 4);
  CHECK(seen == 4);
}
