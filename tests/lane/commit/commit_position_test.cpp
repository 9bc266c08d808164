// The position of a lane to commit, on a ledger alone.
#include "lane/commit/commit_position.h"

#include "captured_log.h"
#include "catch.h"

using namespace laneway;
using namespace laneway::lane;

namespace {

/// A lane that has taken the records 10 to 14.
struct CommittingLedger {
  explicit CommittingLedger(StoredCommit begin = {.partition = {"orders", 3},
                                                  .offset = 10,
                                                  .topic_id = "7kQ0m2XwTzu7v5n0mQmR3A"})
      : start(std::move(begin)) {
    first = ledger.append(10, 5);
  }
  void complete(std::int64_t offset) { ledger.complete(first + static_cast<Sequence>(offset - 10)); }
  std::optional<StoredCommit> candidate(bool drains = false) {
    const auto written = commits.candidate(drains, default_map_bytes, false);
    return written ? std::optional(StoredCommit::read(*written)) : std::nullopt;
  }
  bool acknowledge(const StoredCommit& commit) { return commits.committed(commit.written()); }

  StoredCommit start;
  LaneContext context;
  LaneId id{{"orders", 3}, 7};
  LaneStats stats;
  Ledger ledger{10};
  Suspects suspects;
  CrashGate gate{context, id, ledger, start};
  CommitPosition commits{context, start, ledger, suspects, gate, stats};
  Sequence first = 0;
};

}  // namespace

TEST_CASE("what has finished is offered until it is acknowledged") {
  CommittingLedger test;
  CHECK_FALSE(test.candidate());
  CHECK_FALSE(test.commits.has_uncommitted());
  test.complete(10);
  test.complete(12);
  CHECK(test.commits.has_uncommitted());
  CHECK(test.commits.finished_since() == 2);
  const auto commit = test.candidate();
  REQUIRE(commit);
  CHECK(commit->offset == 11);
  CHECK(commit->map.runs == std::vector<OffsetRun>{{12, 13}});
  CHECK(commit->log.topic == "7kQ0m2XwTzu7v5n0mQmR3A");
  CHECK(test.candidate()->map == commit->map);  // no answer has come
  CHECK(test.acknowledge(*commit));
  CHECK_FALSE(test.candidate());
  CHECK_FALSE(test.commits.has_uncommitted());
  CHECK(test.commits.finished_since() == 0);
  CHECK(test.stats.committed.offset.get() == 11);
}

TEST_CASE("what finishes while a commit is under way is still to be committed") {
  CommittingLedger test;
  test.complete(10);
  const auto commit = test.candidate();
  test.complete(13);
  CHECK(test.acknowledge(*commit));
  CHECK(test.commits.has_uncommitted());
  CHECK(test.commits.finished_since() == 1);
  CHECK(test.candidate()->map.contains(13));
}

TEST_CASE("a replacement starts from what was acknowledged, or from the first record") {
  CommittingLedger test;
  test.complete(10);
  test.complete(12);
  const auto commit = test.candidate();
  CHECK(test.commits.starting_point(10).offset == 10);
  CHECK_FALSE(test.commits.starting_point(10).has_map());
  test.acknowledge(*commit);
  const auto start = test.commits.starting_point(10);
  CHECK(start.offset == 11);
  CHECK(start.map.contains(12));
  CHECK(start.topic_id == "7kQ0m2XwTzu7v5n0mQmR3A");
  const CommittingLedger never({.partition = {"orders", 3}, .topic_id = "7kQ0m2XwTzu7v5n0mQmR3A"});
  CHECK(never.commits.starting_point(10).offset == 10);
}

TEST_CASE("a commit for a log that was replaced does not count") {
  CommittingLedger test;
  test.complete(10);
  const auto commit = test.candidate();
  test.commits.start_over();
  CHECK_FALSE(test.acknowledge(*commit));
  CHECK(test.commits.starting_point(5).offset == 5);
  CHECK(test.commits.starting_point(5).topic_id.empty());
}

TEST_CASE("a drain commits nothing if everything is committed, not even its clean end") {
  CommittingLedger test;
  test.gate.watch()->begin();
  for (std::int64_t offset = 10; offset < 15; ++offset) test.complete(offset);
  const auto commit = test.candidate();
  REQUIRE(commit);
  CHECK(commit->offset == 15);
  test.acknowledge(*commit);
  CHECK_FALSE(test.candidate(true));
}

TEST_CASE("without max_crashes no marker is stored and no lane is careful") {
  CommittingLedger test({.partition = {"orders", 3}, .offset = 10, .lives = {7, 3, 5}});
  test.context.retry.max_crashes = 0;
  CrashGate gate{test.context, test.id, test.ledger, test.start};
  CommitPosition commits{test.context, test.start, test.ledger, test.suspects, gate, test.stats};
  CHECK(gate.watch() == nullptr);
  CHECK_FALSE(gate.careful());
  CHECK_FALSE(commits.candidate(false, default_map_bytes, false));
  test.complete(10);
  const auto written = commits.candidate(true, default_map_bytes, false);
  REQUIRE(written);
  CHECK(written->offset == 11);
  CHECK(StoredCommit::read(*written).lives == LifeMarker{});
}

TEST_CASE("the later decision about the partition is committed, once") {
  CommittingLedger test({.partition = {"orders", 3}, .offset = 10, .suspension = Suspension{true, 5}});
  CHECK(test.commits.suspended_ms() == 5);
  test.commits.decide(Suspension{false, 5});
  CHECK_FALSE(test.commits.has_decision_to_commit());
  test.commits.decide(Suspension{false, 6});
  CHECK(test.commits.has_decision_to_commit());
  CHECK_FALSE(test.commits.suspended_ms());
  const auto commit = test.candidate();
  REQUIRE(commit);
  CHECK(commit->suspension == Suspension{false, 6});
  CHECK(test.stats.committed.decision_ms.get() == 5);
  test.acknowledge(*commit);
  CHECK_FALSE(test.commits.has_decision_to_commit());
  CHECK(test.stats.committed.decision_ms.get() == 6);
}

TEST_CASE("a suspension that does not fit is reported as not stored") {
  const CapturedLog log;
  CommittingLedger test;
  test.commits.decide(Suspension{true, 1000});
  const auto written = test.commits.candidate(false, 14, false);
  REQUIRE(written);
  CHECK(written->metadata.empty());
  CHECK(log.lines({"a suspension is too long", "topic=orders partition=3 bytes=15 limit=14"}) == 1);
  CHECK(test.commits.committed(*written));
  CHECK(test.stats.committed.decision_ms.get() == 0);
}
