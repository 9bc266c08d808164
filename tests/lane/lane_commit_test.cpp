// What may be committed, retries, and the records that a restart does not run again.
#include "catch.h"
#include "lane/support.h"

using namespace laneway;
using namespace laneway::lane;
using handler::Outcome;

namespace {

/// The runs of completed records above the candidate's offset.
std::vector<OffsetRun> map_of(const kafka::CommittedOffset& candidate) {
  const auto commit = StoredCommit::read(candidate);
  REQUIRE(commit.map_error.empty());
  return commit.map.runs;
}

}  // namespace

TEST_CASE("a commit has the finished records up to the first gap, and a map of those above") {
  TestLane test;
  test.partition.add_run(0, 4);
  test.begin();
  test.handler.answer_done({1, 3});
  REQUIRE(test.until_outstanding(2));
  auto candidate = test.lane->commit_candidate();
  REQUIRE(candidate);
  CHECK(candidate->offset == 0);
  const auto runs = map_of(*candidate);
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].begin == 1);
  CHECK(runs[0].end == 2);
  CHECK(runs[1].begin == 3);
  CHECK(runs[1].end == 4);
  test.handler.answer(0);
  REQUIRE(test.until_outstanding(1));
  CHECK(test.commit_offset() == 2);
  test.handler.answer(2);
  REQUIRE(test.until_outstanding(0));
  CHECK(test.commit_offset() == 4);
  CHECK(test.lane->commit_candidate()->metadata.empty());
}

TEST_CASE("acknowledged offsets are not committed again, but others are") {
  TestLane test;
  test.partition.add_run(0, 3);
  test.begin();
  CHECK(test.commit_offset() == -1);
  test.handler.answer_done({0, 2});
  REQUIRE(test.until_outstanding(1));
  CHECK(test.commit_offset() == 1);
  CHECK(test.commit() == 1);  // no answer had come to the first
  CHECK(test.commit_offset() == -1);
  CHECK(test.lane->stats().committed.offset.get() == 1);
  test.handler.answer(1);
  REQUIRE(test.until_outstanding(0));
  CHECK(test.commit() == 3);
}

TEST_CASE("a map that changed while its commit was in flight is committed again") {
  TestLane test;
  test.partition.add_run(0, 4);
  test.begin();
  test.handler.answer(2);
  REQUIRE(test.until_outstanding(3));
  const auto sent = test.lane->commit_candidate();
  REQUIRE(sent);
  test.handler.answer(3);
  REQUIRE(test.until_outstanding(2));
  test.lane->committed(*sent);
  const auto next = test.lane->commit_candidate();
  REQUIRE(next);
  CHECK(next->offset == 0);
  CHECK(map_of(*next).front().end == 4);
}

TEST_CASE("a record that waits for its retry holds back the commit until it is done") {
  TestLane test;
  test.partition.add_run(0, 2);
  test.begin();
  test.handler.answer(0, Outcome::retry("not now"));
  test.handler.answer(1);
  REQUIRE(test.until_outstanding(0));
  CHECK(test.commit() == 0);
  for (int i = 0; i < 10; ++i) test.pass(milliseconds(4));  // less than half of the back-off
  CHECK(test.handler.attempts(0).size() == 1);
  test.pass(milliseconds(100));
  REQUIRE(test.until([&] { return test.handler.attempts(0).size() == 2; }));
  CHECK(test.commit_offset() == -1);
  test.handler.answer(0);
  REQUIRE(test.until_outstanding(0));
  CHECK(test.commit() == 2);
  CHECK(test.handler.attempts(0) == std::vector<std::uint32_t>{1, 2});
}

TEST_CASE("the lag counts unfinished records, and finished records behind a failing one are separate") {
  TestLane test;
  test.partition.add_run(0, 6);
  test.partition.high_watermark = 10;
  test.begin();
  test.handler.answer(0, Outcome::retry("not now"));
  test.handler.answer_done({1, 2, 3});
  REQUIRE(test.until_outstanding(2));
  test.pass(milliseconds(1));
  const auto& stats = test.lane->stats();
  CHECK(stats.lag.get() == 7);  // 0, which waits; 4 and 5, which run; 6 to 9, which are not fetched
  CHECK(stats.finished_beyond.get() == 3);
  test.handler.open();
  REQUIRE(test.in_time([&] { return test.commit_offset() == 6; }));
  CHECK(stats.finished_beyond.get() == 0);
}

TEST_CASE("records of the committed map are not counted as lag before they are delivered again") {
  TestLane test;
  test.partition.high_watermark = 16;
  test.begin(10, encode(CompletionMap{10, {{11, 13}, {14, 15}}}, default_map_bytes));
  test.pass(milliseconds(1));
  const auto& stats = test.lane->stats();
  CHECK(stats.lag.get() == 3);
  CHECK(stats.finished_beyond.get() == 3);
  test.partition.add_run(10, 16);
  test.work();
  CHECK(test.until_started({10, 13, 15}));
  test.pass(milliseconds(1));
  CHECK(stats.lag.get() == 3);
  CHECK(stats.finished_beyond.get() == 3);
}

TEST_CASE("an unavailable downstream uses up no attempt") {
  TestLane test;
  test.partition.add(0);
  test.begin();
  test.handler.answer(0, Outcome::unavailable("out"));
  test.handler.answer(0, Outcome::retry("not now"));
  test.handler.answer(0);
  for (int i = 0; i < 100 && test.handler.attempts(0).size() < 3; ++i) {
    REQUIRE(test.until_outstanding(0));
    test.pass(seconds(1));
  }
  REQUIRE(test.until([&] { return test.commit_offset() == 1; }));
  CHECK(test.handler.attempts(0) == std::vector<std::uint32_t>{1, 1, 2});
}

TEST_CASE("an attempt beyond the handler's time-out is stopped and retried as a timeout") {
  TestLane test;
  test.handler.job_timeout = std::chrono::hours(1);
  test.partition.add(0);
  test.begin();
  REQUIRE(test.until_started({0}));
  test.pass(test.handler.job_timeout);  // by the test's clock: the attempt began a little later
  CHECK(test.lane->pool().snapshot().expired == 0);
  test.pass(patience + seconds(1));  // the attempt began within the patience
  REQUIRE(test.until_outstanding(0));
  const auto& outcomes = test.lane->stats().outcomes;
  CHECK(outcomes[static_cast<std::size_t>(handler::OutcomeLabel::timeout)].get() == 1);
  test.handler.open();
  test.pass(seconds(1));
  REQUIRE(test.until([&] { return test.commit_offset() == 1; }));
}

TEST_CASE("records of the committed map do not run again, and the commit passes over them") {
  TestLane test;
  const CompletionMap map{10, {{11, 13}, {14, 15}}};
  test.partition.add_run(10, 16);
  test.begin(10, encode(map, default_map_bytes));
  test.handler.open();
  REQUIRE(test.until([&] { return test.commit_offset() == 16; }));
  CHECK(TestLane::sorted(test.handler.started()) == Offsets{10, 13, 15});
  CHECK(test.lane->stats().suppressed.get() == 3);
}

TEST_CASE("an unreadable map is reported and ignored") {
  CapturedLog log;
  TestLane test;
  test.partition.add_run(10, 13);
  test.begin(10, "somebody else's metadata");
  test.handler.open();
  REQUIRE(test.until([&] { return test.commit_offset() == 13; }));
  CHECK(TestLane::sorted(test.handler.started()) == offsets(10, 13));
  CHECK(log.lines({"completion map ignored", "orders", "offset=10"}) == 1);
}

TEST_CASE("a restart from any commit runs exactly the records that were not done") {
  for (const Offsets& done : {Offsets{}, Offsets{0}, Offsets{3}, Offsets{1, 2, 5}, offsets(0, 6)}) {
    kafka::CommittedOffset committed{{"orders", 3}, 0, {}};
    {
      TestLane first;
      first.stage().settings.workers = 6;
      first.partition.add_run(0, 6);
      first.begin();
      first.handler.answer_done(done);
      REQUIRE(first.until_outstanding(6 - static_cast<std::uint32_t>(done.size())));
      if (const auto candidate = first.lane->commit_candidate()) committed = *candidate;
    }
    TestLane second;
    second.partition.add_run(committed.offset, 6);
    second.begin(committed.offset, committed.metadata);
    second.handler.open();
    REQUIRE(second.until([&] {
      return second.lane->pool().drained() && second.partition.next == second.partition.log.size();
    }));
    auto all = second.handler.started();
    all.insert(all.end(), done.begin(), done.end());
    CHECK(TestLane::sorted(all) == offsets(0, 6));
  }
}

TEST_CASE("gaps between offsets are passed over, and a gap after the committed offset is reported") {
  CapturedLog log;
  TestLane test;
  for (const auto offset : {5, 9, 10, 20}) test.partition.add(offset);
  test.partition.add_end(25);  // control records lie between
  test.begin(3);
  test.handler.open();
  REQUIRE(test.until([&] { return test.commit_offset() == 25; }));
  CHECK(log.lines({"offset gap", "offset=5", "expected=3", "missing=2"}) == 1);
}

TEST_CASE("the end of a partition is not committed while an earlier record runs") {
  TestLane test;
  test.partition.add_run(0, 2);
  test.partition.add_end(5);
  test.begin();
  test.handler.answer(1);
  REQUIRE(test.until_outstanding(1));
  CHECK(test.commit() == 0);
  test.handler.answer(0);
  REQUIRE(test.until_outstanding(0));
  CHECK(test.commit() == 5);
}

TEST_CASE("a lane starts over from the last acknowledged commit with its map, or from its first record") {
  TestLane test;
  test.partition.add_run(5, 9);
  test.begin(kafka::no_offset);
  CHECK_FALSE(test.lane->begun());
  test.work();
  CHECK(test.lane->begun());
  CHECK(test.lane->starting_point().offset == 5);
  test.handler.answer(7);
  REQUIRE(test.until_outstanding(3));
  const auto sent = test.lane->commit_candidate();
  REQUIRE(sent);
  CHECK_FALSE(test.lane->starting_point().has_map());
  test.lane->committed(*sent);
  CHECK(test.lane->starting_point().offset == 5);
  CHECK(test.lane->starting_point().map.runs.front() == OffsetRun{7, 8});
  test.handler.answer_done({5, 6});
  REQUIRE(test.until_outstanding(1));
  test.commit();
  CHECK(test.lane->starting_point().offset == 8);
}

TEST_CASE("a lane with a map that is too long takes nothing new, and works on its records") {
  TestLane test;
  test.partition.add_run(0, 4);
  test.begin();
  test.work();
  test.lane->hold_for_map(true, test.now);
  CHECK(test.lane->state() == State::held);
  test.partition.add_run(4, 8);
  test.handler.answer_done({0, 1, 2, 3});
  REQUIRE(test.until_outstanding(0));
  CHECK(test.handler.started().size() == 4);
  test.lane->hold_for_map(false, test.now);
  test.handler.answer_done({4, 5, 6, 7});
  CHECK(test.until([&] { return test.handler.started().size() == 8; }));
}
