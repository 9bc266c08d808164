// What a lane logs about failures, and how often.
#include "lane/attempts/failure_log.h"

#include "captured_log.h"
#include "catch.h"

using namespace laneway;
using namespace laneway::lane;
using handler::Outcome;

namespace {

constexpr TimePoint beginning{seconds(1000)};

handler::Item failed_item(std::int64_t offset) {
  kafka::RecordData data;
  data.topic = "orders";
  data.partition = 3;
  data.offset = offset;
  handler::Item item;
  item.record = kafka::Record(data);
  item.failures = std::make_unique<handler::FailureHistory>();
  item.failures->reason = "HTTP 500";
  return item;
}

struct Logged {
  /// The dead-letter topic has acknowledged the letters of these offsets.
  void letters(std::int64_t begin, std::int64_t end, handler::ItemState state = handler::ItemState::done) {
    handler::RecordBatch batch;
    for (auto offset = begin; offset < end; ++offset) batch.items.push_back(failed_item(offset));
    for (auto& item : batch.items) item.state = state;
    batch.size = static_cast<std::uint32_t>(batch.items.size());
    handler::Finished finished;
    finished.claim.range = {&batch, 0, batch.size};
    log.letters(finished, now);
  }

  LaneId id{{"orders", 3}, 7};
  FailureLog log{id};
  TimePoint now = beginning;
  CapturedLog captured;
};

}  // namespace

TEST_CASE("failed attempts share a line in five seconds, which counts them") {
  Logged test;
  const auto fail = [&](Duration after) {
    test.log.failed("record failed", failed_item(8), 2, Outcome::retry("HTTP 500"), beginning + after);
  };
  fail(Duration::zero());
  CHECK(test.captured.lines({"record failed", "topic=orders partition=3 offset=8 epoch=7 attempt=2",
                             "failures=1", "HTTP 500"}) == 1);
  fail(milliseconds(1));
  fail(milliseconds(4999));
  CHECK(test.captured.lines({"record failed"}) == 1);
  fail(seconds(5));
  CHECK(test.captured.lines({"record failed", "failures=3"}) == 1);
}

TEST_CASE("the first twenty dead letters have a line each, and the others share one") {
  Logged test;
  test.letters(100, 125);
  CHECK(test.captured.lines({"msg=\"dead letter\"", "HTTP 500"}) == 20);
  test.log.more_letters(beginning + milliseconds(4999));
  CHECK(test.captured.lines({"more dead letters"}) == 0);
  test.log.more_letters(beginning + seconds(5));
  CHECK(test.captured.lines({"more dead letters", "records=5 first_offset=120 last_offset=124"}) == 1);
  test.letters(200, 201);
  test.log.more_letters(beginning, true);
  CHECK(test.captured.lines({"more dead letters", "records=1 first_offset=200"}) == 1);
}

TEST_CASE("a letter that was not written is not logged as one") {
  Logged test;
  test.letters(100, 103, handler::ItemState::failed);
  CHECK(test.captured.lines({"dead letter"}) == 0);
}

TEST_CASE("the last error of the status is the newest one, with a limited reason") {
  Logged test;
  CHECK_FALSE(test.log.last_error());
  auto item = failed_item(8);
  item.attempt = 4;
  test.log.remember(failed_item(7), Outcome::retry("first"));
  test.log.remember(item, Outcome::retry(std::string(2000, 'x')));
  REQUIRE(test.log.last_error());
  CHECK(test.log.last_error()->offset == 8);
  CHECK(test.log.last_error()->attempt == 4);
  CHECK(test.log.last_error()->error == std::string(longest_reason, 'x'));
}
