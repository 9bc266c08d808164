// Records that failed while the downstream worked are suspects, also in the next process and in a retry
// topic: their failures are no sign of an outage, and they are given up.
#include "delivery/dead_letter/retry_headers.h"
#include "lane/dead_letter_topic.h"
#include "lane/support.h"

using namespace laneway;
using namespace laneway::lane;
using delivery::DeadLetterReason;
using handler::Outcome;

namespace {

DownstreamRules two_failures_open() {
  return {.breaker = {.failures = 2, .window = seconds(30), .probe = seconds(5)}};
}

/// Reads a topic whose records `poison` always fail, with a breaker.
struct SuspectsLane : FailingLane {
  SuspectsLane() {
    stage().downstream = &downstream;
    stage().settings.workers = 16;
  }
  ~SuspectsLane() {
    handler.open();
    lane.reset();
  }
  void fail_always(const Offsets& poison) {
    for (const auto offset : poison)
      for (int i = 0; i < 20; ++i) handler.answer(offset, Outcome::retry("HTTP 500"));
  }

  Downstream downstream{"shop", two_failures_open()};
};

/// The last commit of a lane of which all but the poison records are done, and each of these has failed once
/// while others worked. `drains`: at a stop; otherwise as a process that dies leaves it.
kafka::CommittedOffset commit_of_first_life(const Offsets& poison, bool drains) {
  SuspectsLane test;
  test.context.retry.backoff = std::chrono::hours(1);
  test.context.retry.max_backoff = std::chrono::hours(1);
  test.context.retry.max_elapsed = std::chrono::hours(100);
  test.downstream.change({.breaker = {.failures = 1000}}, test.now);
  test.partition.add_run(0, 10);
  test.begin();
  for (const auto offset : offsets(0, 10))
    if (std::find(poison.begin(), poison.end(), offset) == poison.end()) test.handler.answer(offset);
  test.fail_always(poison);
  REQUIRE(test.until_outstanding(0));
  if (drains) {
    test.lane->begin_drain(test.now, test.now + seconds(1));
    REQUIRE(test.until_drained());
    REQUIRE(test.lane->has_uncommitted());
  }
  const auto commit = test.lane->commit_candidate();
  REQUIRE(commit);
  test.lane->committed(*commit);
  CHECK_FALSE(test.lane->has_uncommitted());
  return *commit;
}

}  // namespace

TEST_CASE("a process with only suspects left gives them up, and its breaker stays closed") {
  const auto poison = GENERATE(Offsets{0, 3, 4, 7}, Offsets{5, 6, 7, 8, 9}, Offsets{9});
  const bool drains = GENERATE(true, false);
  const auto commit = commit_of_first_life(poison, drains);
  SuspectsLane test;
  test.partition.add_run(0, 10);
  test.partition.go_to(commit.offset);
  test.fail_always(poison);
  test.begin(commit.offset, commit.metadata);
  REQUIRE(test.in_time([&] { return test.topic.letters().size() == poison.size(); }));
  CHECK(TestLane::sorted(test.topic.offsets()) == poison);
  CHECK(test.downstream.closed());
  REQUIRE(test.in_time([&] { return test.commit_offset() == 10; }));
}

TEST_CASE("records that fail in a drain are suspects for the next owner, unless an outage was the cause") {
  const bool out = GENERATE(false, true);
  SuspectsLane test;
  test.downstream.change({.breaker = {.failures = out ? 2U : 1000U}}, test.now);
  test.partition.add_run(0, 10);
  test.begin();
  for (const auto offset : offsets(0, 7)) test.handler.answer(offset);
  REQUIRE(test.until_outstanding(3));
  test.lane->begin_drain(test.now, test.now + seconds(20));
  test.fail_always({7, 8, 9});
  REQUIRE(test.until_drained());
  const auto commit = test.lane->commit_candidate();
  REQUIRE(commit);
  CHECK(commit->offset == 7);
  CHECK(test.downstream.closed() != out);
  CHECK(commit->metadata == (out ? "" : "failed=0,1,1 "));
}

TEST_CASE("suspects that fail in a drain because of an outage stay suspects") {
  const bool refused = GENERATE(false, true);
  SuspectsLane test;
  test.partition.add_run(7, 10);
  test.begin(7, "failed=0 ");
  REQUIRE(test.until_started({7, 8, 9}));
  if (!refused) test.fail_always({8, 9});
  REQUIRE(test.until([&] {
    test.downstream.settle(test.now);  // both failures may have come while both calls still ran
    return refused || !test.downstream.closed();
  }));
  test.lane->begin_drain(test.now, test.now + seconds(20));
  if (refused) test.handler.answer_done({8, 9});
  test.handler.answer(7, refused ? Outcome::unavailable("HTTP 503") : Outcome::retry("HTTP 500"));
  REQUIRE(test.until_drained());
  const auto commit = test.lane->commit_candidate();
  CHECK((!commit || commit->metadata.starts_with("failed=0")));
}

TEST_CASE("records that only an outage left behind are not suspects: they show the outage again") {
  Offsets unlucky{1, 3, 5, 7};
  kafka::CommittedOffset commit;
  {
    SuspectsLane test;
    test.partition.add_run(0, 10);
    test.begin();
    test.handler.answer_done({0, 2, 4, 6, 8, 9});
    REQUIRE(test.until_outstanding(4));
    test.fail_always(unlucky);
    REQUIRE(test.until([&] { return !test.downstream.closed(); }));
    REQUIRE(test.until_outstanding(0));
    commit = *test.lane->commit_candidate();
  }
  SuspectsLane test;
  test.partition.add_run(0, 10);
  test.partition.go_to(commit.offset);
  test.fail_always(unlucky);
  test.begin(commit.offset, commit.metadata);
  REQUIRE(test.until([&] { return !test.downstream.closed(); }));
  for (int i = 0; i < 20; ++i) {
    REQUIRE(test.until_outstanding(0));
    test.pass(seconds(1));
  }
  CHECK(test.topic.letters().empty());
}

TEST_CASE("suspects stay suspects in a process that does not reach them") {
  const auto commit = commit_of_first_life({3, 4}, true);
  SuspectsLane test;
  test.begin(commit.offset, commit.metadata);
  test.lane->begin_drain(test.now, test.now + seconds(1));
  REQUIRE(test.until_drained());
  CHECK_FALSE(test.lane->commit_candidate());  // the commit that was found is still right
}

TEST_CASE("records of a retry topic with counted attempts open no breaker") {
  delivery::RetrySteps steps;
  steps.add("source", {{"orders", seconds(5)}});
  const std::uint32_t attempts = GENERATE(0U, 3U);  // 0: they were parked
  SuspectsLane test;
  test.context.retry_steps = &steps;
  delivery::RetryOrigin origin;
  origin.topic = "source";
  origin.partition = 1;
  origin.offset = 70;
  origin.attempts = attempts;
  for (const auto& header : delivery::retry_headers({}, origin))
    test.partition.headers.emplace_back(header.name, header.value);
  test.partition.add_run(0, 5);
  test.fail_always({70, 70, 70, 70, 70});
  test.begin();
  test.work();
  test.pass(seconds(5));
  if (attempts == 0) {
    REQUIRE(test.until([&] { return !test.downstream.closed(); }));
    return;
  }
  REQUIRE(test.in_time([&] { return test.topic.letters().size() == 5; }));
  CHECK(test.downstream.closed());
}
