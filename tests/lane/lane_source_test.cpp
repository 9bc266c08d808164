// The requests of a lane to its client: wake-ups, and what cannot be read.
#include "catch.h"
#include "lane/support.h"

using namespace laneway;
using namespace laneway::lane;

namespace {

const std::vector<std::string> nothing;

}  // namespace

TEST_CASE("the client is woken once when a full buffer runs low") {
  TestLane test;
  test.handler.open();
  test.context.memory.fetch.queued_min_messages = 100;
  test.begin();
  const auto take_one = [&](std::int64_t offset, std::size_t fetched) {
    test.partition.reported_fetched = fetched;
    test.partition.add(offset);
    test.lane->work(test.now);
  };
  take_one(0, 49);  // the buffer was never full
  take_one(1, 100);
  take_one(2, 50);
  CHECK(test.partition.calls == nothing);
  take_one(3, 49);
  CHECK(test.partition.calls == std::vector<std::string>{"wake"});
  take_one(4, 20);
  CHECK(test.partition.calls.size() == 1);
}

TEST_CASE("a lane that finds a full buffer empty wakes the client, if the log goes on") {
  TestLane test;
  test.handler.open();
  test.context.memory.fetch.queued_min_messages = 100;
  test.partition.high_watermark = 1;
  test.begin();
  test.partition.reported_fetched = 100;
  test.partition.add(0);
  test.work();
  test.pass(milliseconds(50));
  CHECK(test.partition.calls == nothing);  // the log's end has been reached
  test.partition.high_watermark = 50;
  test.work();
  test.pass(milliseconds(19));
  test.pass(milliseconds(1));
  CHECK(test.partition.calls == std::vector<std::string>{"wake"});
}

TEST_CASE("the first record after a resume measures the latency of the resume") {
  TestLane test;
  test.stage().settings.workers = 1;
  test.stage().settings.queue = 2;
  test.partition.add_run(0, 6);
  test.begin();
  test.work();
  test.pass(seconds(1));
  REQUIRE(test.lane->state() == State::paused);
  test.handler.open();
  REQUIRE(test.until_outstanding(0));
  REQUIRE(test.until([&] { return test.commit_offset() == 6; }));
  test.pass(milliseconds(1));
  REQUIRE(test.lane->state() == State::running);
  test.now += milliseconds(5);
  test.partition.add(6);
  test.work();
  const auto latency = test.lane->stats().resume_latency.snapshot();
  CHECK(latency.sum == milliseconds(5));
}

TEST_CASE("a partition with an error is asked again every half minute") {
  TestLane test;
  test.partition.log.push_back({kafka::Pop::error, 7, {}, 0});
  test.begin(7);
  test.work();
  test.pass(seconds(29));
  CHECK(test.partition.calls == nothing);
  test.pass(seconds(1));
  CHECK(test.partition.calls == std::vector<std::string>{"seek to 7"});
  CHECK(test.lane->detail(test.now).source_error == "simulated");
}
