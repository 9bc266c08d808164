// A lane keeps its own position: what it does when the client goes back, when retention overtakes it, and
// when a batch is corrupt.
#include "catch.h"
#include "lane/support.h"

using namespace laneway;
using namespace laneway::lane;
using handler::Outcome;

namespace {

bool in_doubt(const TestLane& test) { return test.lane->position_in_doubt(); }

/// A lane that has committed 103, of records from 100 on, and whose client then goes back.
struct WentBack : TestLane {
  WentBack() {
    partition.add_run(100, 103);
    begin(100);
    handler.open();
    REQUIRE(until([&] { return commit() == 103; }));
    partition.goes_back();
  }
};

}  // namespace

TEST_CASE_METHOD(WentBack, "an end of the log below the lane's offset makes the position doubtful") {
  partition.add_end(0);
  work();
  CHECK(in_doubt(*this));
  CHECK(lane->state() == State::held);
  CHECK(lane->detail(now).held_by == "position in doubt");
  CHECK(lane->detail(now).source_error.find("went back to offset 0 from 103") != std::string::npos);
}

TEST_CASE_METHOD(WentBack, "nothing is taken or committed while the position is in doubt") {
  partition.add_run(5, 8);
  work();
  pass(seconds(5));
  CHECK(in_doubt(*this));
  CHECK(handler.started().size() == 3);
  lane->begin_drain(now, now + seconds(1));
  REQUIRE(until_drained());
  CHECK(commit_offset() == -1);
  lane->revoke(now);
}

TEST_CASE("records that finish while the position is in doubt are committed once it is found") {
  TestLane test;
  test.partition.add_run(100, 103);
  test.begin(100);
  REQUIRE(test.until_started({100, 101, 102}));
  test.partition.goes_back();
  test.partition.add_end(7);
  test.work();
  test.handler.open();
  REQUIRE(test.until_outstanding(0));
  CHECK(test.commit_offset() == -1);
  test.partition.answers(0, 103);
  test.partition.goes_back();
  test.partition.add_run(100, 103);
  test.pass(seconds(1));
  test.pass(seconds(1));
  CHECK_FALSE(in_doubt(test));
  CHECK(test.commit_offset() == 103);
}

TEST_CASE_METHOD(WentBack, "an outdated leader does not lead a lane back: the lane seeks its own offset") {
  CapturedLog log;
  partition.add_run(7, 12);  // from the start of the outdated leader's log
  work();
  for (int i = 0; i < 3; ++i) {
    partition.answers(0, 50);
    pass(seconds(1));
  }
  CHECK(partition.doubts > 0);
  REQUIRE(in_doubt(*this));
  partition.goes_back();
  partition.add_run(100, 106);  // the true log
  partition.answers(0, 106);
  REQUIRE(in_time([&] { return commit_offset() == 106; }));
  CHECK(TestLane::sorted(handler.started()) == offsets(100, 106));
  // compared, then continued
  CHECK(partition.calls == std::vector<std::string>{"seek to 102", "seek to 103"});
  CHECK(log.lines({"position found", "offset=103", "outdated"}) == 1);
}

TEST_CASE_METHOD(WentBack, "a recreated topic is read and committed from its start") {
  CapturedLog log;
  partition.add_run(5, 8);
  work();
  hear_of_another_log(5, 8);
  REQUIRE(in_time([&] { return commit_offset() == 8; }));
  CHECK(TestLane::sorted(handler.started()) == Offsets{5, 6, 7, 100, 101, 102});
  CHECK(log.lines({"offsets went back", "offset=5", "expected=103", "log_end=8"}) == 1);
}

TEST_CASE_METHOD(WentBack, "a deleted topic that has grown past the lane's offset is read from its start") {
  partition.log.push_back({kafka::Pop::gone, 0, {}});
  partition.add_run(103, 110);  // where the client goes on, in the new topic
  work();
  CHECK(in_doubt(*this));
  partition.answers(0, 110);
  partition.goes_back();
  for (std::int64_t offset = 0; offset < 110; ++offset)
    partition.log.push_back({kafka::Pop::record, offset, {}, 0, 1234});  // with another timestamp
  REQUIRE(in_time([&] { return commit_offset() == 110; }));
  CHECK(handler.started().size() == 3 + 110);
}

TEST_CASE("nothing is committed in a topic that does not exist, but for transactions") {
  TestLane test;
  test.partition.add_run(100, 103);
  test.begin(100);
  REQUIRE(test.until_started({100, 101, 102}));
  test.partition.log.push_back({kafka::Pop::gone, 0, {}});
  test.work();
  test.handler.open();
  REQUIRE(test.until_outstanding(0));
  CHECK(test.commit_offset() == -1);
  CHECK(test.lane->commit_candidate(1000, true).has_value());
  test.partition.goes_back();
  test.partition.add_end(103);  // the topic is there again
  test.work();
  test.partition.goes_back();
  test.partition.add_run(100, 103);
  test.partition.answers(0, 103);
  CHECK(test.in_time([&] { return test.commit_offset() == 103; }));
}

TEST_CASE_METHOD(WentBack, "a topic that a broker briefly did not know goes on at the same place") {
  for (const auto kind : {kafka::Pop::record, kafka::Pop::end_of_partition}) {
    partition.goes_back();
    partition.log.push_back({kafka::Pop::gone, 0, {}});
    partition.log.push_back({kind, kind == kafka::Pop::record ? 103 : 104, {}});
    work();
    CHECK(in_doubt(*this));
    partition.goes_back();
    partition.add_run(100, 104);
    partition.answers(0, 104);
    REQUIRE(in_time([&] { return !in_doubt(*this); }));
    REQUIRE(in_time([&] { return commit_offset() == 104 || lane->stats().committed.offset.get() == 104; }));
    (void)commit();
  }
  CHECK(TestLane::sorted(handler.started()) == offsets(100, 104));
}

TEST_CASE("a committed offset beyond the end of the log is invalid: the lane begins at the log's start") {
  TestLane test;
  const CompletionMap map{100, {{103, 105}}};
  test.partition.add_run(0, 3);
  test.begin(100, encode(map, default_map_bytes));
  test.handler.open();
  test.work();
  REQUIRE(in_doubt(test));
  test.hear_of_another_log(0, 3);
  REQUIRE(test.in_time([&] { return test.commit_offset() == 3; }));
  test.partition.add_run(3, 110);
  REQUIRE(test.until([&] { return test.commit_offset() == 110; }));
  CHECK(TestLane::sorted(test.handler.started()) == offsets(0, 110));
}

TEST_CASE("records from before a topic was recreated finish nothing in the new log") {
  TestLane test;
  test.partition.add_run(100, 102);
  test.begin(100);
  REQUIRE(test.until_started({100, 101}));
  test.partition.goes_back();
  test.partition.add_run(5, 7);
  test.work();
  test.hear_of_another_log(5, 7);
  REQUIRE(test.until_started({5, 6, 100, 101}));
  test.handler.answer(100, Outcome::retry("of the old log"));
  test.handler.answer(101);
  REQUIRE(test.until_outstanding(2));
  CHECK(test.commit_offset() == 5);
  for (int i = 0; i < 10; ++i) test.pass(seconds(10));
  CHECK(test.handler.started().size() == 4);  // the record is not retried either
  test.handler.answer_done({5, 6});
  REQUIRE(test.until([&] { return test.commit_offset() == 7; }));
}

TEST_CASE("the answer to a commit of the old log does not delay commits of the new one") {
  TestLane test;
  test.partition.add_run(100, 103);
  test.begin(100);
  test.handler.open();
  REQUIRE(test.until([&] { return test.commit_offset() == 103; }));
  const auto under_way = test.lane->commit_candidate();
  REQUIRE(under_way);
  test.partition.goes_back();
  test.partition.add_run(5, 8);
  test.work();
  test.hear_of_another_log(5, 8);
  test.lane->committed(*under_way);
  REQUIRE(test.in_time([&] { return test.commit_offset() == 8; }));
}

TEST_CASE("after a topic is recreated, nothing of the old log counts for the lane's share of the memory") {
  TestLane test;
  test.context.lanes.order = config::Order::key;
  test.stage().settings.workers = 1;
  for (std::int64_t offset = 100; offset < 110; ++offset) test.partition.add(offset, "a", 1000);
  test.partition.add(200, "b", 1000);
  test.handler.answer(200, Outcome::retry("of the old log"));
  test.begin(100);
  REQUIRE(test.until_started({100}));
  test.partition.goes_back();
  test.partition.add(5, "a", 1000);
  test.work();
  test.hear_of_another_log(5, 6);
  test.handler.open();
  REQUIRE(test.in_time([&] { return test.commit_offset() == 6; }));
  test.pass(milliseconds(1));
  CHECK(test.lane->stats().record_bytes.get() == 0);
}

TEST_CASE("retention that overtakes a running lane is reported and counted, but compaction is not") {
  CapturedLog log;
  TestLane test;
  test.handler.open();
  test.partition.log_start = 0;
  for (const auto offset : {0, 1, 5, 6}) test.partition.add(offset);
  test.begin();
  REQUIRE(test.until([&] { return test.commit() == 7; }));
  CHECK(log.lines({"offset gap"}) == 0);
  CHECK(test.lane->stats().expired.get() == 0);
  test.partition.log_start = 107;
  test.partition.add(110);  // 107 to 109 were compacted away
  REQUIRE(test.until([&] { return test.commit() == 111; }));
  CHECK(log.lines({"offset gap", "expected=7", "offset=110", "missing=100", "retention"}) == 1);
  CHECK(test.lane->stats().expired.get() == 100);
}

TEST_CASE("a paused lane notices that retention has overtaken it, and its lag has the existing records") {
  TestLane test;
  test.stage().settings.workers = 1;
  test.stage().settings.queue = 2;
  test.partition.add_run(0, 4);
  test.begin();
  test.work();
  test.pass(seconds(1));
  REQUIRE(test.lane->state() == State::paused);
  test.pass(seconds(3));
  CHECK(test.partition.log_questions > 0);
  test.partition.log_start = 300;
  test.partition.high_watermark = 301;
  test.pass(seconds(1));
  CHECK(test.lane->stats().expired.get() == 296);
  CHECK(test.lane->stats().lag.get() == 5);  // 0 to 3 were taken and are not finished, and 300
  test.partition.add(300);
  test.handler.open();
  REQUIRE(test.in_time([&] { return test.commit_offset() == 301; }));
  CHECK(test.lane->stats().expired.get() == 296);
  CHECK(TestLane::sorted(test.handler.started()) == Offsets{0, 1, 2, 3, 300});
}

namespace {

/// A lane that has taken four records and is paused; its leader answers each question.
struct Paused : TestLane {
  Paused() {
    stage().settings.workers = 1;
    stage().settings.queue = 2;
    partition.add_run(0, 4);
    partition.leader = "";
    begin();
    work();
    pass(seconds(1));
    REQUIRE(lane->state() == State::paused);
  }
  /// Meanwhile the log has become another one.
  void becomes(const Offsets& offsets, std::int64_t timestamp) {
    partition.goes_back();
    for (const auto offset : offsets) partition.log.push_back({kafka::Pop::record, offset, {}, 0, timestamp});
    partition.log_start = 0;
    partition.high_watermark = offsets.back() + 1;
    pass(seconds(3));
    handler.open();
  }
};

}  // namespace

TEST_CASE_METHOD(
    Paused, "a topic recreated while its lane was paused is read from its start, however far it has grown") {
  CapturedLog log;
  becomes(offsets(0, 50), 1234);
  REQUIRE(in_time([&] { return commit_offset() == 50; }));
  CHECK(handler.started().size() == 4 + 50);
  CHECK(log.lines({"offsets went back", "expected=4"}) == 1);
}

TEST_CASE_METHOD(Paused, "a paused lane goes on behind its last record if compaction deleted that record") {
  becomes({0, 7, 8}, -1);
  REQUIRE(in_time([&] { return commit_offset() == 9; }));
  CHECK(TestLane::sorted(handler.started()) == Offsets{0, 1, 2, 3, 7, 8});
}

TEST_CASE_METHOD(Paused, "a lane takes no record twice after a pause") {
  becomes({0, 1, 2, 3, 4, 5}, -1);
  REQUIRE(in_time([&] { return commit_offset() == 6; }));
  CHECK(TestLane::sorted(handler.started()) == offsets(0, 6));
  CHECK(partition.doubts == 0);
}

TEST_CASE("a lane without progress is warned of retention in advance") {
  CapturedLog log;
  TestLane test;
  test.stage().settings.workers = 1;
  test.partition.log_start = 0;
  test.partition.high_watermark = 1000;
  test.partition.add_run(250, 260);
  test.begin(250);
  test.work();
  test.pass(seconds(1));
  CHECK_FALSE(test.lane->stats().expiry_near.get());
  test.partition.log_start = 200;
  test.pass(seconds(1));
  CHECK(test.lane->stats().expiry_near.get());
  CHECK(log.lines({"retention is about to delete", "offset=250", "log_start=200", "deleted_last=200"}) == 1);
}

TEST_CASE("a corrupt batch holds the lane at its offset, and is read again later") {
  CapturedLog log;
  TestLane test;
  test.handler.open();
  test.partition.add_run(0, 3);
  test.partition.log.push_back({kafka::Pop::corrupt, 3, {}, 0});
  test.partition.add_run(0, 3);  // what a client may deliver after the corrupt batch
  test.begin();
  REQUIRE(test.until([&] { return test.commit() == 3; }));
  CHECK(test.lane->state() == State::held);
  CHECK(test.lane->detail(test.now).source_error.find("offset 3 is corrupt") != std::string::npos);
  test.pass(seconds(20));
  CHECK(test.partition.calls.empty());
  CHECK(test.handler.started().size() == 3);
  test.partition.goes_back();
  test.partition.add_run(3, 6);  // another replica has the batch intact
  test.pass(seconds(11));
  REQUIRE(test.until([&] { return test.commit() == 6; }));
  CHECK(test.lane->detail(test.now).source_error.empty());
}

TEST_CASE("a lane that has taken all records before an open transaction waits there") {
  TestLane test;
  test.handler.open();
  test.partition.high_watermark = 9;
  test.partition.open_transaction = 3;
  test.partition.add_run(0, 3);
  test.begin();
  CHECK(test.lane->detail(test.now).open_transaction == -1);  // there are records before it
  REQUIRE(test.until([&] { return test.commit() == 3; }));
  CHECK(test.lane->detail(test.now).open_transaction == 3);
  test.partition.open_transaction = -1;
  CHECK(test.lane->detail(test.now).open_transaction == -1);
}

TEST_CASE("an operator can skip corrupt records by their offset") {
  CapturedLog log;
  TestLane test;
  test.handler.open();
  test.partition.high_watermark = 9;
  test.partition.log.push_back({kafka::Pop::corrupt, 0, {}, 0});
  test.begin();
  test.work();
  CHECK(test.lane->skip(9, "typing error", test.now) == Skip::not_taken);
  CHECK(test.lane->skip(4, "disk failed", test.now) == Skip::passed_over);
  CHECK(log.lines({"corrupt records passed over", "offset=0", "last=4", "disk failed"}) == 1);
  test.partition.goes_back();
  test.partition.add_run(5, 9);
  REQUIRE(test.until([&] { return test.commit() == 9; }));
  CHECK(TestLane::sorted(test.handler.started()) == offsets(5, 9));
}
