// The position of a lane in its log: offsets that go on, corrupt batches, and the bounds of the log.
#include "lane/position/log_position.h"

#include "captured_log.h"
#include "catch.h"
#include "lane/position/positioned.h"

using namespace laneway;
using namespace laneway::lane;

namespace {

/// A position that has taken 100 to 102, and meets a corrupt batch at 103.
struct CorruptAt103 : Positioned {
  CorruptAt103() {
    take(100, 103);
    position.on_corrupt(source, 103, "is corrupt", now);
  }
  using Calls = std::vector<std::string>;
};

}  // namespace

// Offsets that go on

TEST_CASE("an unknown position begins at the first offset that is delivered") {
  const CapturedLog log;
  Positioned test(kafka::no_offset);
  CHECK(test.position.next() == -1);
  CHECK_FALSE(test.position.expects(40));
  CHECK(test.delivers(40));
  test.position.took(40);
  CHECK(test.position.first() == 40);
  CHECK(test.position.delivered() == 40);
  CHECK(test.position.next() == 41);
  CHECK(log.lines({"offset gap"}) == 0);
}

TEST_CASE("a position expects the offset after the last record, and keeps the first one") {
  Positioned test;
  CHECK(test.position.first() == -1);
  CHECK(test.position.delivered() == -1);
  CHECK(test.position.expects(100));
  test.take(100, 102);
  CHECK_FALSE(test.position.expects(101));
  CHECK(test.position.expects(102));
  CHECK_FALSE(test.position.expects(103));
  CHECK(test.position.first() == 100);
  CHECK(test.position.delivered() == 101);
}

TEST_CASE("the end of the log moves the position and the offset to commit, and delivers nothing") {
  Positioned test;
  test.position.reached(104);
  CHECK(test.position.next() == 104);
  CHECK(test.position.delivered() == -1);
  CHECK(test.ledger.committable() == 104);
}

TEST_CASE("a gap that retention made is counted, and a gap that compaction made is not") {
  const CapturedLog log;
  Positioned test;
  test.partition.log_start = 100;
  CHECK(test.delivers(103));  // the log begins at the position, so the records were compacted away
  test.take(103, 104);
  CHECK(test.expired() == 0);
  CHECK(log.lines({"offset gap"}) == 0);
  test.partition.log_start = 107;
  CHECK(test.delivers(110));
  CHECK(test.expired() == 3);  // 104 to 106
  CHECK(log.lines({"offset gap", "expected=104", "offset=110", "missing=3", "retention deleted"}) == 1);
}

TEST_CASE("records that retention deletes after they were fetched do not count as expired") {
  Positioned test;
  test.partition.log_start = 500;
  CHECK(test.delivers(103));
  CHECK(test.expired() == 3);
}

TEST_CASE("a gap of unknown cause is reported before the first record only, and does not count") {
  const CapturedLog log;
  Positioned test;
  CHECK(test.delivers(105));
  CHECK(log.lines({"offset gap", "expected=100", "offset=105", "missing=5"}) == 1);
  test.take(105, 106);
  CHECK(test.delivers(110));
  CHECK(log.lines({"offset gap"}) == 1);
  CHECK(test.expired() == 0);
}

TEST_CASE("retention that has deleted all remaining records is counted at the end of the log") {
  Positioned test;
  test.take(100, 103);
  test.partition.log_start = 150;
  CHECK(test.delivers_end(150));
  CHECK(test.expired() == 47);
}

// Corrupt batches and errors

TEST_CASE_METHOD(CorruptAt103, "a corrupt batch blocks the position until the batch is read again") {
  const CapturedLog log;
  CHECK(position.corrupt());
  CHECK(position.blocked());
  CHECK_FALSE(position.in_doubt());
  CHECK(errors.why() == "the batch of records at offset 103 is corrupt: simulated");
  position.answers();  // what a client delivers after such a batch
  CHECK(position.blocked());
  CHECK_FALSE(pass_with_error(milliseconds(29'999)));
  CHECK(partition.calls.empty());
  CHECK(pass_with_error(milliseconds(1)));
  CHECK(partition.calls == Calls{"seek to 103"});
  CHECK(position.corrupt());
  CHECK_FALSE(position.blocked());
  position.answers();
  CHECK_FALSE(position.corrupt());
  CHECK_FALSE(errors.any());
  CHECK(log.lines({"partition can be read again"}) == 1);
}

TEST_CASE_METHOD(CorruptAt103,
                 "a batch that is still corrupt when it is read again blocks the position again") {
  REQUIRE(pass_with_error(seconds(30)));
  position.on_corrupt(source, 103, "is corrupt", now);
  CHECK(position.blocked());
  CHECK_FALSE(pass_with_error(seconds(29)));
  CHECK(pass_with_error(seconds(1)));
}

TEST_CASE("an unknown position is at the corrupt batch, or at the start of the log inside the batch") {
  const auto [log_start, expected] =
      GENERATE(table<std::int64_t, std::int64_t>({{kafka::no_offset, 5}, {3, 5}, {6, 6}}));
  Positioned test(kafka::no_offset);
  test.partition.log_start = log_start;
  test.position.on_corrupt(test.source, 5, "is corrupt", test.now);
  CHECK(test.position.next() == expected);
  CHECK(test.ledger.committable() == expected);
}

TEST_CASE_METHOD(CorruptAt103, "an operator passes over corrupt records up to the end of the log") {
  const CapturedLog log;
  partition.high_watermark = 110;
  CHECK(position.pass_over_corrupt(source, 102, "disk failed") == Skip::not_waiting);
  CHECK(position.pass_over_corrupt(source, 110, "typing error") == Skip::not_taken);
  CHECK(position.blocked());
  CHECK(partition.calls.empty());
  CHECK(position.pass_over_corrupt(source, 109, "disk failed") == Skip::passed_over);
  CHECK(position.next() == 110);
  CHECK(ledger.committable() == 110);
  CHECK_FALSE(position.blocked());
  CHECK(partition.calls == Calls{"seek to 110"});
  CHECK(log.lines({"corrupt records passed over", "offset=103", "last=109", "disk failed"}) == 1);
  CHECK(position.resumes_at({0, 120}) == 110);  // and not at the record before the batch
}

TEST_CASE_METHOD(CorruptAt103, "an operator passes over one corrupt record while its batch is read again") {
  REQUIRE(pass_with_error(seconds(30)));
  CHECK(position.pass_over_corrupt(source, 103, "disk failed") == Skip::passed_over);
  CHECK(position.next() == 104);
}

TEST_CASE("an operator passes over nothing before the corrupt batch") {
  Positioned test;
  test.take(100, 103);
  test.position.on_corrupt(test.source, 105, "is corrupt", test.now);
  CHECK(test.position.pass_over_corrupt(test.source, 104, "disk failed") == Skip::not_waiting);
  CHECK(test.position.pass_over_corrupt(test.source, 105, "disk failed") == Skip::passed_over);
}

TEST_CASE("a lane that takes records asks the source again every half minute of an error, at its position") {
  Positioned test;
  test.position.on_error(test.source, test.now);
  CHECK_FALSE(test.pass_with_error(seconds(30), false));
  CHECK(test.partition.calls.empty());
  CHECK_FALSE(test.pass_with_error(seconds(30)));
  CHECK(test.partition.calls == std::vector<std::string>{"seek to 100"});
  Positioned unknown(kafka::no_offset);
  unknown.position.on_error(unknown.source, unknown.now);
  CHECK_FALSE(unknown.pass_with_error(seconds(30)));
  CHECK(unknown.partition.calls.empty());
}

// The bounds of the log

TEST_CASE("a lane that fetches nothing asks for the bounds of its log every 2 s") {
  Positioned test;
  const auto pass_bounds = [&](Duration time, bool fetches = false) {
    test.position.tick_bounds(test.source, fetches, test.now += time);
    return test.partition.log_questions;
  };
  CHECK(pass_bounds(seconds(60), true) == 0);
  CHECK(pass_bounds(milliseconds(1999)) == 0);
  CHECK(pass_bounds(milliseconds(1)) == 1);
  CHECK(pass_bounds(milliseconds(1999)) == 1);
  CHECK(pass_bounds(milliseconds(1)) == 2);
  (void)test.delivers(5);
  CHECK(pass_bounds(seconds(60)) == 2);  // the doubt has its own questions
  CHECK(test.partition.doubts == 0);
}

TEST_CASE("records that expire during a pause are counted once, and left out") {
  Positioned test;
  test.partition.log_start = 300;
  test.position.leave_out_expired(test.source, 100);
  CHECK(test.position.next() == 100);
  test.position.leave_out_expired(test.source, 300);
  test.position.leave_out_expired(test.source, 300);
  CHECK(test.position.next() == 300);
  CHECK(test.ledger.committable() == 300);
  CHECK(test.expired() == 200);
  Positioned unknown(kafka::no_offset);
  unknown.position.leave_out_expired(unknown.source, 300);
  CHECK(unknown.position.next() == -1);
}

TEST_CASE("the lag has the unfinished records and those to come, without the expired ones") {
  Positioned test;
  CHECK(test.position.lag({}) == -1);
  CHECK(test.position.lag({0, 100}) == 0);
  CHECK(test.position.lag({0, 50}) == 0);
  CHECK(test.position.lag({0, 110}) == 10);
  CHECK(test.position.lag({104, 110}) == 6);
  test.position.took(100);
  (void)test.ledger.append(100);
  CHECK(test.position.lag({0, 110}) == 10);
  CHECK(test.position.lag({104, 110}) == 7);
  CHECK(Positioned(kafka::no_offset).position.lag({4, 10}) == 6);
}

TEST_CASE("the lag has no records that an earlier life has finished") {
  Positioned test;
  test.ledger = Ledger(CompletionMap{100, {{103, 105}}});
  CHECK(test.position.lag({0, 110}) == 8);
}

TEST_CASE("a lane waits for an open transaction once it has taken everything before it") {
  Positioned test;
  CHECK(test.position.waits_for_transaction({0, 110, 101}) == kafka::no_offset);
  CHECK(test.position.waits_for_transaction({0, 110, 100}) == 100);
  CHECK(Positioned(kafka::no_offset).position.waits_for_transaction({0, 110, 100}) == kafka::no_offset);
}
