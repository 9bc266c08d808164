// A record that is parked before the second pool of a chain comes back to the first one.
#include "captured_log.h"
#include "lane/stage/parked_topics.h"
#include "lane/stage/pooled_lane.h"

namespace laneway::lane {
namespace {

using handler::Outcome;
using std::chrono::minutes;

/// What the pools have done, by offset.
struct ChainWork {
  std::map<std::int64_t, int> loaded;
  std::map<std::int64_t, std::vector<std::string>> stored;  // the values
  bool legacy_is_out = false;
};

/// load, and then store, which has a breaker for each key.
struct LoadAndStore : ParkingInstance {
  LoadAndStore(ParkedTopics& topics, TimePoint& now, ChainWork& to, Commits& commits)
      : ParkingInstance(topics, now), work(to) {
    by_key.by = {config::Selector::Kind::key, ""};
    limits = std::make_unique<KeyedLimits>(
        "store", DownstreamRules{.breaker = {.failures = 5, .window = seconds(30), .probe = seconds(5)}},
        by_key);
    for (auto* handler : {&load, &store}) {
      auto& pool = context.stages.emplace_back();
      pool.settings.name = handler == &load ? "load" : "store";
      pool.settings.workers = 8;
      pool.settings.queue = 64;
      pool.handler = handler;
      pool.downstream = &never_out;
    }
    context.stages[0].then = 1;
    context.stages[1].settings.each = by_key;
    context.stages[1].each = limits.get();
    start(commits);
  }
  ~LoadAndStore() { end_lanes(); }
  LoadAndStore(const LoadAndStore&) = delete;

  ChainWork& work;
  config::Each by_key;
  Downstream never_out{"none", {.breaker = {.failures = 0}}};
  std::unique_ptr<KeyedLimits> limits;
  InstantHandler load{[this](const handler::Attempt& attempt) {
    return result("loaded " + std::to_string(++work.loaded[attempt.record.offset()]) + " times");
  }};
  InstantHandler store{[this](const handler::Attempt& attempt) {
    if (attempt.record.key() == "legacy" && work.legacy_is_out) return Outcome::unavailable("HTTP 503");
    work.stored[attempt.record.offset()].emplace_back(attempt.record.value().value_or(""));
    return Outcome::done();
  }};
};

}  // namespace

TEST_CASE("a record that is parked before the second pool of a chain comes back to the first one") {
  const CapturedLog log;
  TimePoint now = SteadyClock::now();
  TimePoint settled = now;
  const VirtualClock clock{now};
  ParkedTopics topics;
  ParkingInstance::Commits commits;
  ChainWork work;
  LoadAndStore instance(topics, now, work, commits);
  constexpr std::int64_t records = 20;
  const auto pass = [&](Duration time) {
    for (const auto end = now + time; now < end; now += milliseconds(100)) {
      instance.turn();
      if (now < settled + seconds(1)) continue;
      settled = now;
      instance.settle();
      instance.commit();
    }
  };
  work.legacy_is_out = true;
  for (std::int64_t offset = 0; offset < records; ++offset) {
    kafka::RecordData data;
    data.key = offset % 2 == 0 ? "legacy" : "quick";
    data.value = "value";
    topics.write({"events", 0}, std::move(data));
  }
  pass(seconds(30));
  const auto parked = topics.log("events-retry-10s").size();
  CHECK(parked == records / 2);
  work.legacy_is_out = false;
  pass(minutes(12));
  CHECK(commits.at({"events", 0}).offset == records);
  for (std::int64_t offset = 0; offset < records; ++offset) {
    const auto times = work.loaded[offset];
    CHECK((offset % 2 == 0 ? times > 1 : times == 1));
    CHECK(work.stored[offset] == std::vector<std::string>{"loaded " + std::to_string(times) + " times"});
  }
  const auto times_parked = parked + topics.log("events-retry-1m").size();
  std::size_t loaded = 0;
  for (const auto& [offset, times] : work.loaded) loaded += static_cast<std::size_t>(times);
  CHECK(loaded == records + times_parked);
}

}  // namespace laneway::lane
