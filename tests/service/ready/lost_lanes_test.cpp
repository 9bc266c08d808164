// Which lanes are remembered when they end, and for how long.
#include "service/ready/lost_lanes.h"

#include "catch.h"

using namespace laneway;
using namespace laneway::service;

namespace {

LaneView lane_of(std::size_t member, std::int32_t partition, std::int64_t lag) {
  LaneView lane;
  lane.member = member;
  lane.topic = "orders";
  lane.partition = partition;
  lane.lag = lag;
  return lane;
}

/// "orders:0=7 orders:1=3"
std::string text(const std::vector<LaneView>& lanes) {
  std::string all;
  for (const auto& lane : lanes)
    all += (all.empty() ? "" : " ") + name_of(lane) + '=' + std::to_string(lane.lag);
  return all;
}

}  // namespace

TEST_CASE("lost lanes keep their last lag until their member has an assignment again") {
  LostLanes lost;
  lost.observe({lane_of(0, 0, 9), lane_of(1, 1, 5)}, {true, true});
  lost.observe({lane_of(0, 0, 7), lane_of(1, 1, 3)}, {true, true});
  CHECK(text(lost.of({lane_of(0, 0, 7), lane_of(1, 1, 3)}, {true, true})).empty());
  CHECK(text(lost.of({lane_of(1, 1, 3)}, {false, true})) == "orders:0=7");
  lost.observe({lane_of(1, 1, 2)}, {false, true});
  CHECK(text(lost.of({lane_of(1, 1, 2)}, {false, true})) == "orders:0=7");
  lost.observe({}, {false, false});
  CHECK(text(lost.of({}, {false, false})) == "orders:0=7 orders:1=2");
  lost.observe({}, {true, false});
  CHECK(text(lost.of({}, {true, false})) == "orders:1=2");
  CHECK(text(lost.of({}, {false, false})) == "orders:1=2");
}

TEST_CASE("lanes that were revoked in order are not remembered") {
  LostLanes lost;
  lost.observe({lane_of(0, 0, 9), lane_of(0, 1, 5)}, {true});
  CHECK(text(lost.of({lane_of(0, 1, 5)}, {true})).empty());
  lost.observe({lane_of(0, 1, 5)}, {true});
  CHECK(text(lost.of({}, {false})) == "orders:1=5");
}

TEST_CASE("a lost partition that another member of the process received has that member's lane") {
  LostLanes lost;
  lost.observe({lane_of(0, 0, 9)}, {true, true});
  CHECK(text(lost.of({lane_of(1, 0, 4)}, {false, true})).empty());
  lost.observe({lane_of(1, 0, 4)}, {false, true});
  CHECK(text(lost.of({}, {false, true})).empty());
  CHECK(text(lost.of({}, {false, false})) == "orders:0=4");
}

TEST_CASE("lanes of replaced members are remembered until the new members have an assignment") {
  LostLanes lost;
  lost.observe({lane_of(0, 0, 9)}, {true});
  CHECK(text(lost.of({}, {})) == "orders:0=9");
}
