// The position of a lane in its log: offsets that go back, and the recognition of the log after a pause.
#include "captured_log.h"
#include "catch.h"
#include "lane/position/log_position.h"
#include "lane/position/positioned.h"

using namespace laneway;
using namespace laneway::lane;
using Found = LogPosition::Found;

namespace {

/// A position that has taken 100 to 102 when the client delivers offset 5.
struct WentBackTo5 : Positioned {
  WentBackTo5() {
    take(100, 103);
    REQUIRE_FALSE(delivers(5));
  }
};

}  // namespace

// Offsets that go back

TEST_CASE("an offset that goes back is not taken, and puts the position in doubt") {
  const WentBackTo5 test;
  CHECK(test.position.in_doubt());
  CHECK(test.position.blocked());
  CHECK_FALSE(test.position.corrupt());
  CHECK(test.position.next() == 103);
  CHECK(test.errors.why().find("went back to offset 5 from 103") != std::string::npos);
}

TEST_CASE("the end of the log before the position puts the position in doubt") {
  Positioned test;
  CHECK_FALSE(test.delivers_end(0));
  CHECK(test.position.in_doubt());
}

TEST_CASE_METHOD(WentBackTo5, "further offsets that go back leave the first reason, and are not taken") {
  CHECK_FALSE(delivers(6));
  CHECK_FALSE(delivers_end(0));
  CHECK(errors.why().find("offset 5 ") != std::string::npos);
}

TEST_CASE_METHOD(WentBackTo5,
                 "the brokers are asked at once for the log of a doubtful position, then every 2 s") {
  pass(seconds(0));
  CHECK(partition.doubts == 1);
  pass(milliseconds(1999));
  CHECK(partition.doubts == 1);
  pass(milliseconds(1));
  CHECK(partition.doubts == 2);
}

TEST_CASE("a position that is not in doubt asks for nothing") {
  Positioned test;
  test.take(100, 103);
  test.partition.answers(0, 5);
  CHECK(test.pass(seconds(60)) == Found::nothing);
  CHECK(test.partition.doubts == 0);
  CHECK(test.partition.calls.empty());
}

TEST_CASE("a new doubt ignores the answers of the last one") {
  Positioned test(20);
  REQUIRE_FALSE(test.delivers_end(0));
  for (std::int64_t i = 0; i < 10; ++i) {
    test.partition.answers(0, 3 + i);
    CHECK(test.pass(seconds(1)) == Found::nothing);
  }
  test.partition.answers(0, 20);
  CHECK(test.pass(seconds(1)) == Found::another_log);
  CHECK_FALSE(test.position.in_doubt());
  test.position.reached(40);
  REQUIRE_FALSE(test.delivers(5));
  CHECK(test.position.in_doubt());
  test.partition.answers(0, 7);
  CHECK(test.pass(seconds(1)) == Found::nothing);
  test.partition.answers(0, 40);
  CHECK(test.pass(seconds(1)) == Found::same_log);
}

TEST_CASE("an answer from before the doubt, and an answer with an error, decide nothing") {
  Positioned test(100);
  test.partition.answers(0, 200);
  REQUIRE_FALSE(test.delivers(5));
  CHECK(test.pass(seconds(1)) == Found::nothing);
  test.partition.answers(0, 200);
  test.partition.answer.error = "no leader";
  CHECK(test.pass(seconds(1)) == Found::nothing);
  test.partition.answers(0, 200);
  CHECK(test.pass(seconds(1)) == Found::same_log);
}

TEST_CASE_METHOD(WentBackTo5, "a log that still has the last record is the same log: the position stays") {
  const CapturedLog log;
  partition.add_run(100, 106);
  partition.answers(0, 106);
  CHECK(pass(seconds(1)) == Found::nothing);
  CHECK(pass(milliseconds(50)) == Found::same_log);
  CHECK(partition.calls == std::vector<std::string>{"seek to 102", "seek to 103"});
  CHECK(position.next() == 103);
  CHECK(position.first() == 100);
  CHECK(ledger.committable() == 103);
  CHECK_FALSE(position.in_doubt());
  CHECK_FALSE(errors.any());
  CHECK(log.lines({"position found", "offset=103", "outdated"}) == 1);
}

TEST_CASE_METHOD(WentBackTo5, "a log with another record at the last offset is read from its start") {
  const CapturedLog log;
  for (std::int64_t offset = 7; offset < 106; ++offset)
    partition.log.push_back({kafka::Pop::record, offset, {}, 0, 1234});  // with another timestamp
  partition.answers(7, 106);
  CHECK(pass(seconds(1)) == Found::nothing);
  CHECK(pass(milliseconds(50)) == Found::another_log);
  CHECK(position.next() == 7);
  CHECK(position.first() == -1);
  CHECK(position.delivered() == -1);
  CHECK(ledger.committable() == 7);
  CHECK_FALSE(position.in_doubt());
  CHECK(partition.calls.back() == "seek to 7");
  CHECK(log.lines({"offsets went back", "offset=7", "expected=103", "log_end=106"}) == 1);
}

TEST_CASE_METHOD(WentBackTo5,
                 "a compacted last record cannot be compared: a log that reaches the position stays") {
  partition.add(100);
  partition.add(104);
  partition.answers(0, 105);
  CHECK(pass(seconds(1)) == Found::nothing);
  CHECK(pass(milliseconds(50)) == Found::same_log);
  CHECK(position.next() == 103);
}

TEST_CASE_METHOD(WentBackTo5, "a client that goes back during the comparison decides nothing") {
  partition.answers(0, 106);
  CHECK(pass(seconds(1)) == Found::nothing);
  partition.add(5);
  CHECK(pass(milliseconds(50)) == Found::nothing);
  CHECK(position.in_doubt());
}

TEST_CASE_METHOD(WentBackTo5, "the brokers are asked again if a comparison brings nothing in ten seconds") {
  partition.answers(0, 106);
  CHECK(pass(seconds(0)) == Found::nothing);
  CHECK(partition.calls == std::vector<std::string>{"seek to 102"});
  pass(milliseconds(9999));
  CHECK(partition.doubts == 0);
  pass(milliseconds(1));
  CHECK(partition.doubts == 1);
}

TEST_CASE_METHOD(WentBackTo5, "a position that retention has passed goes forward to the start of the log") {
  partition.log_start = 200;
  partition.answers(200, 300);
  CHECK(pass(seconds(1)) == Found::same_log);
  CHECK(position.next() == 200);
  CHECK(ledger.committable() == 200);
  CHECK(expired() == 97);
  CHECK(partition.calls == std::vector<std::string>{"seek to 200"});
}

TEST_CASE("a topic that was missing may be another one, even if it goes on at the position") {
  const auto offset = GENERATE(103, 110);
  Positioned test;
  test.take(100, 103);
  test.position.on_gone(test.source, test.now);
  CHECK(test.errors.why() == "simulated");
  CHECK_FALSE(test.position.blocked());
  CHECK_FALSE(test.position.expects(103));
  CHECK_FALSE(test.delivers(offset));
  CHECK(test.position.in_doubt());
  CHECK(test.errors.why().find("the topic was missing and exists again") == 0);
}

// After a pause

TEST_CASE("after a pause, the last record is read again, and nothing is taken twice") {
  Positioned test;
  test.take(100, 103);
  CHECK(test.position.resumes_at({0, 110}) == 102);
  CHECK(test.position.read_again(record_at(102), 102));
  CHECK_FALSE(test.position.read_again(record_at(103), 103));
  CHECK(test.position.expects(103));
}

TEST_CASE("after a pause, everything between the recognised record and the position is passed over") {
  Positioned test;
  test.take(100, 103);
  test.position.reached(106);  // the end of the log was there
  CHECK(test.position.resumes_at({0, 110}) == 102);
  for (std::int64_t offset = 102; offset < 106; ++offset)
    CHECK(test.position.read_again(record_at(offset), offset));
  CHECK_FALSE(test.position.read_again(record_at(106), 106));
  CHECK(test.position.expects(106));
}

TEST_CASE("after a pause, another record at the last offset puts the position in doubt") {
  Positioned test;
  test.take(100, 103);
  (void)test.position.resumes_at({0, 110});
  CHECK_FALSE(test.position.read_again(record_at(102, 1234), 102));
  CHECK_FALSE(test.position.expects(103));
  CHECK_FALSE(test.delivers(103));
  CHECK(test.position.in_doubt());
  CHECK(test.errors.why().find("after a pause the log has another record at offset 102") == 0);
}

TEST_CASE("after a pause, a log that ends before the last record comes puts the position in doubt") {
  Positioned test;
  test.take(100, 103);
  (void)test.position.resumes_at({0, 110});
  test.position.end_recognition();
  CHECK_FALSE(test.position.expects(103));
  CHECK_FALSE(test.delivers_end(103));
  CHECK(test.position.in_doubt());
}

TEST_CASE("after a pause, the end of the log behind the recognised record is expected") {
  Positioned test;
  test.take(100, 103);
  (void)test.position.resumes_at({0, 103});
  CHECK(test.position.read_again(record_at(102), 102));
  test.position.end_recognition();
  CHECK(test.position.expects(103));
}

TEST_CASE(
    "after a pause, a lane reads on at its position if the log has lost the last record, or never had one") {
  Positioned test;
  CHECK(test.position.resumes_at({0, 110}) == 100);
  CHECK(test.position.expects(100));
  test.take(100, 103);
  CHECK(test.position.resumes_at({102, 110}) == 102);
  CHECK(test.position.resumes_at({103, 110}) == 103);
  CHECK(test.position.expects(103));
}
