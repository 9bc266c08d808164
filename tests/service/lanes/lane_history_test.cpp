// When the last error of a lane is history.
#include "service/lanes/lane_history.h"

#include "catch.h"

using namespace laneway;
using namespace laneway::service;

namespace {

const TimePoint start{seconds(1000)};

LaneView lane_with(std::uint64_t done) {
  LaneView lane;
  lane.topic = "orders";
  lane.epoch = 7;
  lane.state = lane::State::running;
  lane.done = lane.finished = done;
  return lane;
}

lane::LaneDetail failed_at(TimePoint at, std::int64_t offset, std::optional<std::int64_t> oldest = {}) {
  lane::LaneDetail detail;
  detail.last_error = lane::LastError{offset, 1, 0, "HTTP 503", at};
  if (oldest) detail.oldest = lane::OldestRecord{*oldest, {}, 0, lane::OldestRecord::Phase::queued, 0, {}};
  return detail;
}

}  // namespace

TEST_CASE("an error is past once later records are done and its own record is finished") {
  LaneHistory history;
  const auto over = [&](std::uint64_t done, const lane::LaneDetail& detail) {
    return history.error_is_over(lane_with(done), detail);
  };
  const auto in_outage = start + milliseconds(2500);
  history.observe({lane_with(5)}, start);
  history.observe({lane_with(9)}, start + seconds(1));
  history.observe({lane_with(9)}, start + seconds(2));
  history.observe({lane_with(9)}, start + seconds(3));
  CHECK_FALSE(over(9, failed_at(in_outage, 9)));
  history.observe({lane_with(10)}, start + seconds(4));
  CHECK(over(10, failed_at(in_outage, 9)));
  CHECK(over(10, failed_at(in_outage, 9, 10)));
  CHECK_FALSE(over(10, failed_at(in_outage, 9, 9)));
  CHECK_FALSE(over(10, failed_at(in_outage, 9, 3)));
}

TEST_CASE("an outage between two samples is past without later records, unless a record was given up") {
  const bool given_up = GENERATE(false, true);
  LaneHistory history;
  history.observe({lane_with(5)}, start);
  auto lane = lane_with(100);
  lane.finished += given_up ? 1 : 0;
  history.observe({lane}, start + seconds(1));
  CHECK(history.error_is_over(lane, failed_at(start + milliseconds(500), 9)) != given_up);
}

TEST_CASE("an outage before the first sample is past, unless a record was given up") {
  const bool given_up = GENERATE(false, true);
  LaneHistory history;
  auto lane = lane_with(100);
  lane.finished += given_up ? 1 : 0;
  history.observe({lane}, start + seconds(1));
  CHECK(history.error_is_over(lane, failed_at(start + milliseconds(500), 9)) != given_up);
  CHECK_FALSE(history.error_is_over(lane, failed_at(start + milliseconds(1500), 9)));
}

TEST_CASE("no error is past without an error, or in a lane that was not observed") {
  LaneHistory history;
  CHECK_FALSE(history.error_is_over(lane_with(5), failed_at(start, 9)));
  history.observe({lane_with(5)}, start);
  history.observe({lane_with(6)}, start + seconds(1));
  CHECK_FALSE(history.error_is_over(lane_with(6), {}));
}
