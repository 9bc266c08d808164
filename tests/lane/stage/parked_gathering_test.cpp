// What a pool that gathers gets while a subscriber before it is out, and the sub-jobs for it are parked.
#include "captured_log.h"
#include "lane/stage/parked_topics.h"
#include "lane/stage/pooled_lane.h"

namespace laneway::lane {
namespace {

using handler::Outcome;
using std::chrono::minutes;

constexpr std::int64_t reported_events = 20;
constexpr DownstreamRules breaker_of_send{
    .breaker = {.failures = 5, .window = seconds(30), .probe = seconds(5)}};

/// A sub-job for each of two subscribers, and a report of each event when both have it.
struct Reports : ParkingInstance {
  struct World {
    std::map<std::int64_t, std::vector<std::string>> reports;
    std::map<std::string, std::map<std::int64_t, int>> got;
    bool legacy_is_out = false;
  };
  Reports(ParkedTopics& topics, TimePoint& now, World& to, Commits& commits)
      : ParkingInstance(topics, now), world(to) {
    each.by = {config::Selector::Kind::part, ""};
    limits = std::make_unique<KeyedLimits>("send", breaker_of_send, each);
    for (const auto& [name, work] : std::map<std::string, handler::Handler*>{
             {"1 fan", &fan}, {"2 send", &send}, {"3 report", &report}}) {
      auto& pool = context.stages.emplace_back();
      pool.settings.name = name;
      pool.settings.workers = 8;
      pool.settings.queue = 64;
      pool.handler = work;
      pool.downstream = &never_out;
      if (context.stages.size() < 3) pool.then = static_cast<int>(context.stages.size());
    }
    context.stages[1].settings.each = each;
    context.stages[1].each = limits.get();
    context.stages[2].settings.gather = true;
    start(commits);
  }
  ~Reports() { end_lanes(); }
  Reports(const Reports&) = delete;

  World& world;
  config::Each each;
  Downstream never_out{"none", {.breaker = {.failures = 0}}};
  std::unique_ptr<KeyedLimits> limits;
  InstantHandler fan{[](const handler::Attempt&) { return results({"audit", "legacy"}); }};
  InstantHandler send{[this](const handler::Attempt& attempt) {
    if (attempt.part == "legacy" && world.legacy_is_out) return Outcome::unavailable("HTTP 503");
    ++world.got[std::string(attempt.part)][attempt.record.offset()];
    return Outcome::done();
  }};
  InstantHandler report{[this](const handler::Attempt& attempt) {
    world.reports[attempt.record.offset()].emplace_back(attempt.record.value().value_or(""));
    return Outcome::done();
  }};
};

struct Story {
  void pass(Duration time) {
    for (const auto end = now + time; now < end; now += milliseconds(100)) {
      instance->turn();
      if (now < settled + seconds(1)) continue;
      settled = now;
      instance->settle();
      instance->commit();
    }
  }
  void write() {
    for (std::int64_t event = 0; event < reported_events; ++event) topics.write({"events", 0}, {});
  }
  void begin() { instance = std::make_unique<Reports>(topics, now, world, commits); }

  const CapturedLog log;
  TimePoint now = SteadyClock::now();
  TimePoint settled = now;
  const VirtualClock clock{now};
  ParkedTopics topics;
  ParkingInstance::Commits commits;
  Reports::World world;
  std::unique_ptr<Reports> instance;
};

TEST_CASE("a pool that gathers gets what is parked as such, and its result alone when it has come") {
  Story story;
  story.begin();
  story.world.legacy_is_out = true;
  story.write();
  int times_of_audit = 1;
  SECTION("in one life") { story.pass(minutes(1)); }
  SECTION("a stop while the sub-jobs wait gives the whole records back") {
    story.pass(seconds(3));
    const auto before = story.topics.log("events-retry-10s").size();
    story.instance->stop();
    CHECK(story.topics.log("events-retry-10s").size() == before);
    CHECK(story.world.reports.empty());
    times_of_audit = 2;
    story.begin();
    story.pass(minutes(1));
  }
  SECTION("a stop when the sub-jobs are parked") {
    story.pass(minutes(1));
    story.instance->stop();
    story.begin();
  }
  story.world.legacy_is_out = false;
  story.pass(minutes(25));
  CHECK(story.commits.at({"events", 0}).offset == reported_events);
  for (std::int64_t event = 0; event < reported_events; ++event) {
    CHECK(story.world.got["legacy"][event] == 1);
    CHECK(story.world.got["audit"][event] == times_of_audit);
    CHECK(story.world.reports[event] ==
          std::vector<std::string>{
              R"([{"id":"audit","results":[]},{"id":"legacy","given_up":true}])",
              R"([{"id":"legacy","given_up":true}])",  // parked again
              R"([{"id":"legacy","results":[]}])",
          });
  }
}

}  // namespace
}  // namespace laneway::lane
