// What `laneway check` forecasts of a subscriber or pool that is out (app/check/parking_forecast.h) is what a
// lane does, in virtual time: how soon the first record leaves the lane and, without parking, how soon the
// lane stops. As many records come as the forecast assumes.
#include "app/check/parking_forecast.h"

#include "lane/stage/example_world.h"

using namespace laneway;
using namespace laneway::lane;
using handler::Outcome;

namespace {

using ReceiversOfEvent = ExampleWorld::Receivers;
using Sets = std::vector<std::string>;

/// The world looks once a second whether records have left.
constexpr Duration forecast_tolerance = milliseconds(1100);

constexpr Duration between_assumed = Duration(seconds(1)) / (100 * ExampleInstance::partitions);

kafka::RecordData of_a_kilobyte() {
  kafka::RecordData event;
  event.value = std::string(1024, 'x');
  return event;
}

/// config/examples/webhook-fanout.yaml with two subscribers, of which legacy is out. Each wants one event of
/// so many, and nobody wants the others.
struct LegacyIsOut {
  LegacyIsOut(const Sets& sets, std::int64_t one_of)
      : every(one_of),
        world(
            example("webhook-fanout", sets), {{"fan", fan}, {"send", send}},
            [this](std::int64_t number) {
              return ExampleWorld::Event{of_a_kilobyte(),
                                         wanted(number / ExampleInstance::partitions) ? both : nobody};
            },
            between_assumed) {
    world.begin();
    world.pass(seconds(5));
    world.out = "legacy";
  }

  bool wanted(std::int64_t offset) const { return offset % every == 0; }

  const std::int64_t every;
  const std::shared_ptr<const ReceiversOfEvent> both =
      std::make_shared<const ReceiversOfEvent>(ReceiversOfEvent{"audit", "legacy"});
  const std::shared_ptr<const ReceiversOfEvent> nobody = std::make_shared<const ReceiversOfEvent>();
  InstantHandler::Answer fan = [this](const handler::Attempt& attempt) {
    handler::Parts parts;
    if (wanted(attempt.record.offset()))
      for (const auto& name : *both) parts.push_back({name, {}, {}, {}, true});
    return Outcome::done(std::move(parts));
  };
  InstantHandler::Answer send = [this](const handler::Attempt& attempt) {
    const std::string part(attempt.part);
    if (world.out == part) return Outcome::unavailable("HTTP 503");
    world.arrived(part, attempt);
    return Outcome::done();
  };
  ExampleWorld world;
};

/// config/examples/priority-tiers.yaml with records for the pool low alone, which is out.
struct LowIsOut {
  explicit LowIsOut(const Sets& sets)
      : world(
            example("priority-tiers", sets), {{"high", idle}, {"medium", idle}, {"low", refuses}},
            [this](std::int64_t) {
              auto job = of_a_kilobyte();
              job.headers.emplace_back("priority", "low");
              return ExampleWorld::Event{std::move(job), low};
            },
            between_assumed) {
    world.begin();
    world.out = "low";
  }

  const std::shared_ptr<const ReceiversOfEvent> low =
      std::make_shared<const ReceiversOfEvent>(ReceiversOfEvent{"low"});
  InstantHandler::Answer idle = [](const handler::Attempt&) { return Outcome::done(); };
  InstantHandler::Answer refuses = [](const handler::Attempt&) { return Outcome::unavailable("out"); };
  ExampleWorld world;
};

app::WhenOut forecast_of(const ExampleWorld& world) {
  return app::when_out(world.config(), world.config().pools.back(), world.lane_bytes());
}

template <class Happened>
void check_happens_after(ExampleWorld& world, Duration forecast, Happened happened) {
  const auto begun = world.now;
  while (!happened() && world.now - begun < 2 * forecast + seconds(20)) world.pass(milliseconds(100));
  const auto took = world.now - begun;
  INFO(took / milliseconds(1) << " ms, and " << forecast / milliseconds(1) << " ms by the forecast");
  CHECK(took <= forecast + forecast_tolerance);
  CHECK(took >= forecast - forecast_tolerance);
}
void check_leaves_after(ExampleWorld& world, Duration forecast) {
  check_happens_after(world, forecast, [&] { return world.seen.parked > 0; });
}
void check_stops_after(ExampleWorld& world, Duration forecast) {
  check_happens_after(world, forecast, [&] { return world.any_held(); });
}

/// So that nobody is at a limit, and a lane has 1 MiB.
const Sets little_memory{"pools.send.each.rate.records=1000", "lanes.memory=64MiB"};

Sets without_parking(Sets sets = {}) {
  sets.emplace_back("lanes.park_after=0s");
  return sets;
}

}  // namespace

TEST_CASE("without parking, a partition stops when the forecast says, whoever its records are for") {
  for (const auto& [sets, expected] : std::vector<std::pair<Sets, Duration>>{
           {{}, seconds(100)}, {{"lanes.max_incomplete=2000"}, seconds(20)}}) {
    LegacyIsOut test(without_parking(sets), 50);
    CHECK(forecast_of(test.world).after == expected);
    check_stops_after(test.world, expected);
  }
}

TEST_CASE("the first record of a subscriber that is out leaves its lane when the forecast says") {
  for (const auto& [sets, expected] : std::vector<std::pair<Sets, Duration>>{
           {{}, seconds(10)}, {{"lanes.max_incomplete=800"}, seconds(4)}}) {
    LegacyIsOut test(sets, 50);
    CHECK(forecast_of(test.world).after == expected);
    check_leaves_after(test.world, expected);
    CHECK_FALSE(test.world.any_held());
  }
}

TEST_CASE("records that are all for a subscriber that is out use the memory up when the forecast says") {
  LegacyIsOut test(without_parking(little_memory), 1);
  const auto forecast = forecast_of(test.world);
  CHECK(std::chrono::floor<seconds>(forecast.memory_after) == seconds(5));
  check_stops_after(test.world, forecast.memory_after);
}

TEST_CASE("records that wait for one of their subscribers alone leave before they use the memory up") {
  LegacyIsOut test(little_memory, 1);
  const auto forecast = forecast_of(test.world);
  CHECK(std::chrono::floor<seconds>(forecast.memory_after) == seconds(2));
  check_leaves_after(test.world, forecast.memory_after);
  CHECK_FALSE(test.world.any_held());
}

TEST_CASE("records that are all for a pool that is out leave or stop the lane when the forecast says") {
  const bool parks = GENERATE(true, false);
  LowIsOut test({std::string("lanes.park_after=") + (parks ? "10s" : "0s")});
  const auto forecast = forecast_of(test.world);
  CHECK(std::chrono::floor<seconds>(forecast.memory_after) == seconds(parks ? 3 : 6));
  if (parks)
    check_leaves_after(test.world, forecast.memory_after);
  else
    check_stops_after(test.world, forecast.memory_after);
}
