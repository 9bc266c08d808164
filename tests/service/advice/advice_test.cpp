// What is advised, and what is not, from how the lanes were used; and how that is seen from samples.
#include "service/advice/advice.h"

#include <functional>

#include "catch.h"

using namespace laneway;
using namespace laneway::service;
using lane::Hold;
using std::chrono::minutes;

namespace {

double& held(LaneUsage& lane, Hold reason) { return lane.held[lane::index_of(reason)]; }

/// 8 workers of a lane that are all busy most of the time, with a lag that grows.
struct Case {
  Usage usage;
  AdviceSettings settings;

  Case() {
    LaneUsage lane;
    lane.name = "orders:3";
    lane.span = minutes(5);
    lane.all_busy = 0.71;
    lane.used = 7.5;
    lane.outstanding = 200;
    lane.rate = 100;
    lane.lag_growth = 10;
    lane.lag = 5000;
    usage = {minutes(5), 0.5, 0, 1, {lane}};
    settings.cores = 2;
  }
  LaneUsage& lane() { return usage.lanes.front(); }
  void idle() {
    lane().all_busy = 0;
    lane().used = 1;
    lane().idle = 1;
  }
  std::string advice() const {
    std::string text;
    for (const auto& line : advise(usage, settings)) text += (text.empty() ? "" : "\n") + line;
    return text;
  }
};

struct Row {
  const char* name;
  std::function<void(Case&)> change;
  const char* advice;  ///< its beginning; empty: none
};

const char* const more_workers = "lanes.workers 8 -> 12: all busy 71 % of the last 5 min (orders:3)";

}  // namespace

TEST_CASE("the advice names the limit of a lane, and more workers only if workers are the limit") {
  const Row rows[] = {
      {"all busy, and the lag grows", [](Case&) {}, more_workers},
      {"all workers of named pools busy", [](Case& c) { c.settings.pools = true; },
       "more workers in the full pools (`laneway status` shows them): all busy 71 % of the last 5 min "
       "(orders:3)"},
      {"the lag neither grows nor falls", [](Case& c) { c.lane().lag_growth = 0; }, "lanes.workers 8 -> 11"},
      {"the lag grows fast: in steps of four times at most", [](Case& c) { c.lane().lag_growth = 9000; },
       "lanes.workers 8 -> 32"},
      {"the backlog is gone in a quarter of an hour", [](Case& c) { c.lane().lag_growth = -5; }, ""},
      {"the backlog takes hours", [](Case& c) { c.lane().lag_growth = -0.1; }, "lanes.workers 8 -> 11"},
      {"caught up, and mostly a worker free",
       [](Case& c) { c.lane().lag = 100, c.lane().lag_growth = 1, c.lane().all_busy = 0.4; }, ""},
      {"caught up, and mostly no worker free",
       [](Case& c) { c.lane().lag = 100, c.lane().lag_growth = -1, c.lane().all_busy = 0.6; },
       "lanes.workers 8 -> 11"},
      {"all busy now and then", [](Case& c) { c.lane().all_busy = 0.3; }, ""},
      {"idle and caught up", [](Case& c) { c.idle(), c.lane().lag = 0, c.lane().lag_growth = 0; }, ""},
      {"nothing is finished: that is not ready, no advice", [](Case& c) { c.lane().rate = 0; }, ""},
      {"seen for half a minute only", [](Case& c) { c.usage.span = c.lane().span = seconds(30); }, ""},
      {"the lane is new", [](Case& c) { c.lane().span = seconds(30); }, ""},
      {"suspended", [](Case& c) { held(c.lane(), Hold::suspended) = 0.2; }, ""},
      {"the processors are busy with one lane", [](Case& c) { c.usage.cores = 1.9; },
       "more cores, or more partitions and instances: 1.9 of 2.0 cores busy in the last 5 min; more workers "
       "would not help"},
      {"the processors are busy with two",
       [](Case& c) { c.usage.cores = 1.9, c.usage.lanes.push_back(c.lane()); },
       "more instances or cores: 1.9"},
      {"the connections are all in use", [](Case& c) { c.settings.connections = 7; },
       "handler.http.connections 7 -> 12: all in use in the last 5 min"},
      {"one record after the other", [](Case& c) { c.settings.lanes.order = config::Order::partition; },
       "more partitions, or lanes.order key"},
      {"few keys",
       [](Case& c) {
         c.settings.lanes.order = config::Order::key, c.idle(), held(c.lane(), Hold::window_full) = 0.9;
       },
       "more partitions, or keys that spread the records more evenly: orders:3"},
      {"by key, and all busy", [](Case& c) { c.settings.lanes.order = config::Order::key; }, more_workers},
      {"full with idle workers: the oldest record",
       [](Case& c) { c.idle(), held(c.lane(), Hold::window_full) = 0.6; },
       "find out why the oldest record is not finished, or raise lanes.max_incomplete: the limit held "
       "orders:3 for 60 %"},
      {"no memory, with idle workers", [](Case& c) { c.idle(), held(c.lane(), Hold::memory_full) = 0.8; },
       "lanes.memory 256MiB -> 512MiB: the limit held orders:3 for 80 % of the last 5 min while workers were "
       "idle"},
      {"no memory, and all busy", [](Case& c) { held(c.lane(), Hold::memory_full) = 0.8; }, more_workers},
      {"the rate limit", [](Case& c) { c.idle(), held(c.lane(), Hold::rate_limited) = 0.9; },
       "raise rate or lanes.rate if the downstream can take more"},
      {"the pace of a downstream that asks for fewer calls",
       [](Case& c) { c.idle(), held(c.lane(), Hold::rate_limited) = 0.9, c.settings.keeps_pace = true; },
       "let the downstream accept more calls: its answers (HTTP 429, too many requests) held orders:3 for "
       "90 % of the last 5 min; no setting of laneway helps"},
      {"the rate limit, without a lag to speak of",
       [](Case& c) {
         c.idle(), held(c.lane(), Hold::rate_limited) = 0.9, c.lane().lag = 5, c.lane().lag_growth = -1;
       },
       ""},
      {"an outage that is over", [](Case& c) { held(c.lane(), Hold::breaker_open) = 0.4; }, ""},
      {"more workers do not help in an outage",
       [](Case& c) { held(c.lane(), Hold::breaker_open) = 0.4, c.settings.outage = true; },
       "fix the downstream: the open breaker held orders:3 for 40 % of the last 5 min; more workers would "
       "not "
       "help"},
      {"more workers do not help records that fail",
       [](Case& c) { held(c.lane(), Hold::retries_full) = 0.4; }, "find out why records fail"},
      {"members without partitions",
       [](Case& c) { c.idle(), c.lane().lag = 0, c.usage.idle_members = 1, c.usage.members = 3; },
       "fewer consumers or instances, or more partitions: 1 of 3 members here had no partition"},
  };
  for (const auto& row : rows) {
    Case given;
    row.change(given);
    const auto advice = given.advice();
    INFO(row.name << ": " << advice);
    const bool right = *row.advice == '\0' ? advice.empty() : advice.starts_with(row.advice);
    CHECK(right);
    CHECK(advice.find('\n') == std::string::npos);
  }
}

TEST_CASE("lanes with the same limit share a line, and the worst lane is named") {
  Case given;
  given.usage.lanes.resize(3, given.lane());
  given.usage.lanes[1].name = "orders:9";
  given.usage.lanes[1].all_busy = 0.99;
  CHECK(given.advice() == "lanes.workers 8 -> 12: all busy 99 % of the last 5 min (orders:9 and 2 more)");
}

TEST_CASE("a drain that cannot end in time is reported with both remedies") {
  Case given;
  given.lane().lag_growth = -5;
  given.lane().outstanding = 264;
  given.lane().rate = 5;  // a drain of 53 s
  CHECK(given.advice() ==
        "lanes.drain 20s -> 66s, or lanes.queue 256 -> 92: the fetched records of orders:3 need 53s; a "
        "stop gives back the records that do not fit");
  given.settings.lanes.drain_queued = config::DrainQueued::give_back;
  CHECK(given.advice().empty());
  given.settings.lanes.drain_queued = config::DrainQueued::finish;
  given.settings.lanes.drain = seconds(60);
  CHECK(given.advice().empty());
}

TEST_CASE("usage has the shares of the samples of the last five minutes") {
  UsageHistory history;
  LaneView view;
  view.topic = "orders";
  view.epoch = 7;
  view.workers = 8;
  view.in_flight = 8;
  view.queued = 12;
  TimePoint now{};
  const auto observe = [&](int times) {
    for (int i = 0; i < times; ++i, now += seconds(1)) {
      view.finished += 100;
      view.lag += 10;
      history.observe({view}, 2, i % 2 == 0 ? 1 : 2, (now - TimePoint{}) / 2, now);
    }
  };
  view.free_workers = 8;  // long ago, and forgotten
  observe(600);
  view.free_workers = 0;
  view.hold_bits = lane::bit(Hold::pool_full);
  observe(180);
  view.free_workers = 6;
  view.hold_bits = 0;
  observe(180);
  const auto usage = history.usage();
  REQUIRE(usage.lanes.size() == 1);
  const auto& lane = usage.lanes.front();
  CHECK(lane.name == "orders:0");
  CHECK(lane.span >= minutes(5));
  CHECK(lane.span <= minutes(5) + seconds(30));
  CHECK(lane.all_busy == Approx(0.45).margin(0.06));
  CHECK(lane.idle == Approx(0.55).margin(0.06));
  CHECK(lane.used == Approx(0.45 * 8 + 0.55 * 2).margin(0.4));
  CHECK(lane.held_by(Hold::pool_full) == Approx(lane.all_busy));
  CHECK(lane.held_by(Hold::memory_full) == 0);
  CHECK(lane.outstanding == Approx(20));
  CHECK(lane.rate == Approx(100));
  CHECK(lane.lag_growth == Approx(10));
  CHECK(usage.cores == Approx(0.5).margin(0.01));
  CHECK(usage.idle_members == 1);
  CHECK(usage.members == 2);

  SECTION("a lane whose workers change is measured from the beginning") {
    view.workers = 16;
    observe(10);
    CHECK(history.usage().lanes.front().span == seconds(9));
  }
  SECTION("a lane that has gone is forgotten") {
    history.observe({}, 2, 0, {}, now);
    CHECK(history.usage().lanes.empty());
  }
}

TEST_CASE("nothing is advised before a measurement") {
  CHECK(advise(UsageHistory().usage(), {}).empty());
  Case given;
  given.usage.lanes.clear();
  CHECK(given.advice().empty());
}
