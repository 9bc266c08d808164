// What a lane does when its partition falls silent.
#include "captured_log.h"
#include "catch.h"
#include "lane/position/silences.h"
#include "lane/support.h"

using namespace laneway;
using namespace laneway::lane;

namespace {

using Calls = std::vector<std::string>;
constexpr Duration silence_unit = seconds(30);

/// A partition that has delivered three records, and whose leader reports ten.
struct SilentPartition {
  SilentPartition() {
    world.handler.open();
    world.context.silences = &silences;
    world.context.silence_unit = silence_unit;
    world.partition.add_run(0, 3);
    world.partition.high_watermark = 10;
    world.partition.log_start = 0;
    world.partition.leader = "";
  }
  void begin(std::int64_t offset = 0) {
    world.begin(offset);
    world.work();
    REQUIRE(world.until_outstanding(0));
  }
  void pass(Duration time) {
    for (Duration passed{}; passed < time; passed += seconds(1)) world.pass(seconds(1));
  }
  /// The silence becomes known with an answer, which is requested after a unit.
  void fall_silent() { pass(silence_unit + seconds(2)); }
  std::optional<SilenceStep> demand() const {
    const auto& demand = world.lane->silence_demand();
    return demand ? std::optional(demand->step) : std::nullopt;
  }
  const Calls& calls() const { return world.partition.calls; }
  std::uint64_t count(SilenceStep step) const { return silences.count(step); }

  CapturedLog log;
  Silences silences;
  TestLane world;
};

const Calls sought_once{"seek to 3"};
const Calls paused_once{"seek to 3", "pause", "resume at 3"};

}  // namespace

TEST_CASE_METHOD(SilentPartition, "a silent partition is sought, paused, resumed, and then more") {
  begin();
  fall_silent();
  pass(silence_unit - seconds(3));
  CHECK(calls() == Calls{});
  pass(seconds(5));
  CHECK(calls() == sought_once);
  pass(silence_unit);
  CHECK(calls() == paused_once);
  CHECK_FALSE(demand());
  pass(2 * silence_unit + seconds(5));
  CHECK(demand() == SilenceStep::rejoin);
  pass(4 * silence_unit + seconds(5));
  CHECK(demand() == SilenceStep::restart);
  CHECK(calls() == paused_once);
  for (const auto step : {SilenceStep::seek, SilenceStep::pause, SilenceStep::rejoin, SilenceStep::restart})
    CHECK(count(step) == 1);
  CHECK(log.lines({"partition silent", "topic=orders partition=3 offset=3 log_end=10", "step=seek"}) == 1);
  CHECK(log.lines({"partition silent", "step=restart"}) == 1);
  const auto& why = world.lane->silence_demand()->why;
  CHECK_THAT(why, Catch::Contains("orders:3 has delivered nothing for 24") && Catch::Contains("at offset 3"));
}

TEST_CASE_METHOD(SilentPartition, "a lane is shown as silent from the first step until a record comes") {
  const auto silent = [&] { return Duration(world.lane->stats().silent_ns.get()); };
  begin();
  fall_silent();
  pass(silence_unit - seconds(3));
  CHECK(silent() == Duration::zero());
  pass(seconds(5));
  REQUIRE(calls() == sought_once);
  CHECK(silent() >= silence_unit);
  world.partition.add(3);
  pass(seconds(2));
  CHECK(silent() == Duration::zero());
}

TEST_CASE_METHOD(SilentPartition, "the client looks for the leader of a silent partition again") {
  begin();
  fall_silent();
  CHECK(world.partition.log_questions == 1);
  pass(silence_unit);
  CHECK(world.partition.doubts > 0);
}

TEST_CASE_METHOD(SilentPartition,
                 "a record ends the silence, and the next silence begins with the first step") {
  begin();
  fall_silent();
  pass(2 * silence_unit + seconds(5));
  REQUIRE(calls() == paused_once);
  world.partition.add(3);
  pass(seconds(2));
  REQUIRE(world.until_outstanding(0));
  CHECK(log.lines({"partition delivers again", "partition=3"}) == 1);
  fall_silent();
  pass(silence_unit + seconds(5));
  CHECK(calls().back() == "seek to 4");
  CHECK(count(SilenceStep::seek) == 2);
}

TEST_CASE_METHOD(SilentPartition, "a log that ends in transaction markers does not count as silent") {
  world.partition.add_end(3);  // the client reports it again after a seek
  begin();
  pass(200 * silence_unit);
  CHECK(count(SilenceStep::seek) > 10);
  CHECK(count(SilenceStep::pause) == 0);
  CHECK_FALSE(demand());
}

TEST_CASE_METHOD(SilentPartition, "a partition at its end is never silent") {
  world.partition.high_watermark = 3;
  begin();
  pass(100 * silence_unit);
  CHECK(calls() == Calls{});
}

TEST_CASE_METHOD(SilentPartition, "a partition whose records come slowly is not silent") {
  begin();
  for (std::int64_t offset = 3; offset < 10; ++offset) {
    pass(silence_unit / 2);
    world.partition.add(offset);
    world.work();
  }
  CHECK(calls() == Calls{});
}

TEST_CASE_METHOD(SilentPartition, "a leader that does not answer is an outage, not a silent partition") {
  world.partition.leader = "timed out";
  begin();
  pass(100 * silence_unit);
  CHECK(world.partition.log_questions > 20);
  CHECK(calls() == Calls{});
  CHECK_FALSE(demand());
}

TEST_CASE_METHOD(SilentPartition, "an outage does not count for the duration of a silence") {
  begin();
  fall_silent();
  pass(silence_unit + seconds(5));
  REQUIRE(calls() == sought_once);
  world.partition.leader = "timed out";
  pass(20 * silence_unit);
  CHECK(calls() == sought_once);
  world.partition.leader = "";
  pass(2 * silence_unit + seconds(5));
  CHECK(calls() == paused_once);
  CHECK_FALSE(demand());
}

TEST_CASE_METHOD(SilentPartition, "a rebalance stops all partitions, and none counts as silent") {
  world.context.rebalancing = true;
  begin();
  pass(100 * silence_unit);
  CHECK(calls() == Calls{});
  CHECK(world.partition.log_questions == 0);
}

TEST_CASE_METHOD(SilentPartition, "a partition with an error is not silent") {
  begin();
  world.partition.log.push_back({kafka::Pop::error, 3, {}, 0});
  world.work();
  world.partition.log.pop_back();
  pass(20 * silence_unit);
  CHECK(log.lines({"partition silent"}) == 0);
}

TEST_CASE_METHOD(SilentPartition, "a held lane takes no steps against a silence") {
  world.context.lanes.pause_after = std::chrono::hours(10);
  Suspensions suspensions;
  world.context.suspensions = &suspensions;
  suspensions.set_here("orders", std::nullopt, true);
  begin();
  pass(20 * silence_unit);
  CHECK(calls() == Calls{});
}

TEST_CASE_METHOD(SilentPartition,
                 "a lane at the end of its log is not silent if retention deletes the records before") {
  world.partition.high_watermark = 3;
  world.partition.log_start = 3;
  begin();
  pass(100 * silence_unit);
  CHECK(world.partition.log_questions > 20);
  CHECK(calls() == Calls{});
}

TEST_CASE_METHOD(SilentPartition, "a lane without a known position does not seek") {
  world.partition.log.clear();
  begin(kafka::no_offset);
  fall_silent();
  pass(2 * silence_unit + seconds(5));
  CHECK(calls() == Calls{"pause", "resume at -1", "pause", "resume at -1"});
}

TEST_CASE_METHOD(SilentPartition,
                 "a lane that begins with new clients continues the steps of the lane before") {
  begin();
  fall_silent();
  pass(4 * silence_unit + seconds(10));
  REQUIRE(demand() == SilenceStep::rejoin);
  world.lane->revoke(world.now);
  begin(3);
  CHECK_FALSE(demand());
  fall_silent();
  pass(4 * silence_unit + seconds(10));
  CHECK(calls() == paused_once);
  CHECK(demand() == SilenceStep::restart);
}

TEST_CASE_METHOD(SilentPartition, "a partition that is silent from the start does not request a restart") {
  world.partition.log.clear();
  begin(0);
  fall_silent();
  pass(100 * silence_unit);
  CHECK(demand() == SilenceStep::rejoin);
  CHECK(count(SilenceStep::restart) == 0);
  CHECK(count(SilenceStep::seek) > 10);
}

TEST_CASE("new clients count for every silent partition, and a record's arrival is remembered") {
  Silences silences;
  const kafka::TopicPartition one{"orders", 1};
  const kafka::TopicPartition two{"orders", 2};
  silences.tries(one, 5, SilenceStep::seek);
  silences.tries(two, 7, SilenceStep::rejoin);
  CHECK(silences.tried(one, 5) == SilenceStep::rejoin);
  CHECK_FALSE(silences.tried(one, 6));
  CHECK_FALSE(silences.heard(one));
  silences.came(one);
  CHECK(silences.heard(one));
  CHECK_FALSE(silences.tried(one, 5));
  CHECK(silences.tried(two, 7) == SilenceStep::rejoin);
}
