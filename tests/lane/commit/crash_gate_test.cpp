// What may begin after crashes, without a lane.
#include "lane/commit/crash_gate.h"

#include "captured_log.h"
#include "catch.h"

using namespace laneway;
using namespace laneway::lane;
using Entry = CrashGate::Entry;

namespace {

constexpr TimePoint asked_first{seconds(1000)};

/// The gate of a lane that begins at record 10.
struct GatedRecord {
  explicit GatedRecord(LifeMarker before = {}, std::uint32_t max_crashes = 3)
      : start{.partition = {"orders", 3}, .offset = 10, .lives = std::move(before)} {
    context.retry.max_crashes = max_crashes;
    gate.emplace(context, id, ledger, start);
    kafka::RecordData data;
    data.offset = 10;
    handler::Item item;
    item.record = kafka::Record(data);
    batch.items.push_back(std::move(item));
    batch.size = 1;
  }
  Entry may_begin(Duration after = {}, bool begun = false, bool alone = true) {
    return gate->may_begin(batch, begun, alone, asked_first + after);
  }
  void acknowledge() { gate->committed(gate->watch()->version()); }

  const CapturedLog log;
  StoredCommit start;
  LaneContext context;
  LaneId id{{"orders", 3}, 7};
  Ledger ledger{10};
  std::optional<CrashGate> gate;
  handler::RecordBatch batch;
};

}  // namespace

TEST_CASE("the first records begin when their commit is acknowledged, or after half a second") {
  GatedRecord test;
  CHECK(test.gate->closed());
  CHECK_FALSE(test.gate->wants_commit());
  CHECK(test.may_begin() == Entry::later);
  CHECK(test.gate->wants_commit());
  CHECK(test.may_begin(milliseconds(499)) == Entry::later);
  CHECK(test.gate->closed());
  if (GENERATE(true, false)) {
    test.acknowledge();
    CHECK(test.may_begin(milliseconds(499)) == Entry::now);
    CHECK_FALSE(test.gate->wants_commit());
  } else {
    CHECK(test.may_begin(milliseconds(500)) == Entry::now);
  }
  CHECK_FALSE(test.gate->closed());
}

TEST_CASE("after a crash the first records wait longer for their commit") {
  GatedRecord test({.lives = 1});
  CHECK_FALSE(test.gate->careful());
  CHECK(test.may_begin() == Entry::later);
  CHECK(test.may_begin(milliseconds(1999)) == Entry::later);
  CHECK(test.may_begin(seconds(2)) == Entry::now);
}

TEST_CASE("without a limit of crashes the gate is open") {
  GatedRecord test({.lives = 9}, 0);
  CHECK_FALSE(test.gate->closed());
  CHECK_FALSE(test.gate->careful());
  CHECK(test.may_begin() == Entry::now);
  CHECK_FALSE(test.gate->wants_commit());
}

TEST_CASE("in careful mode a record runs alone, and after a commit that names it") {
  GatedRecord test({.lives = 2});
  test.gate->warn_careful();
  CHECK(test.log.lines({"careful mode begins", "topic=orders partition=3", "offset=10", "times=2"}) == 1);
  CHECK(test.may_begin({}, false, false) == Entry::later);
  CHECK_FALSE(test.gate->wants_commit());
  CHECK(test.may_begin() == Entry::later);
  CHECK(test.gate->wants_commit());
  CHECK(test.gate->watch()->marker().suspect == 10);
  test.acknowledge();
  CHECK(test.may_begin() == Entry::now);
  CHECK(test.may_begin({}, true, false) == Entry::now);  // part of the running group
}

TEST_CASE("a record that crashed too often runs alone again while there is no dead-letter topic") {
  GatedRecord test({.lives = 4, .suspect = 10, .deaths = 1});
  CHECK(test.gate->watch()->condemned(10));
  CHECK(test.may_begin() == Entry::later);
}

TEST_CASE("careful lanes of a process take turns") {
  CarefulTurn turn;
  GatedRecord one({.lives = 2});
  GatedRecord other({.lives = 2});
  one.context.careful_turn = other.context.careful_turn = &turn;
  CHECK(one.may_begin() == Entry::later);
  CHECK(one.gate->wants_commit());
  CHECK(other.may_begin() == Entry::later);
  CHECK_FALSE(other.gate->wants_commit());
  one.gate->leave();
  CHECK(other.may_begin() == Entry::later);
  CHECK(other.gate->wants_commit());
}

TEST_CASE("careful mode ends when no records are left") {
  GatedRecord test({.lives = 2});
  test.gate->tick(11, 10, asked_first);
  CHECK(test.gate->careful());
  test.gate->tick(10, 10, asked_first);
  CHECK_FALSE(test.gate->careful());
  CHECK(test.log.lines({"careful mode ends", "no records are left"}) == 1);
}

TEST_CASE("a drain opens the gate of a lane that is not careful") {
  GatedRecord test;
  test.gate->drain();
  CHECK_FALSE(test.gate->closed());
  GatedRecord careful({.lives = 2});
  careful.gate->drain();
  CHECK(careful.gate->closed());
}
