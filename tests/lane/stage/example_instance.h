// An instance that is configured by a file of config/examples, in virtual time (parked_topics.h): the lanes,
// the memory, the pools, the limits and the retry topics are those of the file. Only the work is the test's,
// and the time before a probe: workers begin probes by the real time, which hardly passes.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/loader.h"
#include "config/pools/parking.h"
#include "config/pools/pool_scope.h"
#include "folders.h"
#include "lane/stage/parked_topics.h"
#include "pool/permits.h"

namespace laneway::lane {

/// The configuration of the example, with these arguments of --set.
inline config::Config example(const std::string& name, const std::vector<std::string>& sets = {}) {
  const auto file = source_folder() + "/config/examples/" + name + ".yaml";
  auto loaded =
      config::load({.file = file, .sets = sets, .environment = {}, .runs_handler = false, .complete = true});
  INFO(config::report(loaded.errors));
  REQUIRE(loaded.config.has_value());
  return std::move(*loaded.config);
}

class ExampleInstance : public ParkingInstance {
 public:
  using Handlers = std::map<std::string, handler::Handler*>;

  /// `handlers`: by the names of the pools. They outlive this, as does `letters`, which gets the dead
  /// letters.
  ExampleInstance(ParkedTopics& topics, TimePoint& now, const config::Config& config,
                  const Handlers& handlers, handler::Handler& letters)
      : ParkingInstance(topics, now, config.topics.front(), delays(config)) {
    if (!config::parks(config)) context.parking = nullptr;
    context.lanes = config.lanes;
    context.retry = config.retry;
    context.retry.max_crashes = 0;
    context.ledger = config.ledger;
    context.forward = &letters;
    context.memory =
        plan_memory(config.lanes.memory, static_cast<std::uint64_t>(partitions) * (1 + delays(config).size()),
                    1, config.consumers);
    std::vector<std::string> names;
    for (const auto& pool : config::stages_of(config)) {
      add(pool, config, *handlers.at(pool.name));
      names.push_back(pool.name);
    }
    router_.emplace(config.route, names);
    context.router = &*router_;
  }
  ~ExampleInstance() { end_lanes(); }
  ExampleInstance(const ExampleInstance&) = delete;

  static constexpr std::int32_t partitions = 4;  // of each topic

  void start(Commits& commits) { ParkingInstance::start(commits, partitions); }

 private:
  struct Parts {
    Parts(const config::PoolSettings& pool, const DownstreamRules& rules)
        : downstream(pool.name, rules, Downstream::Calls::of_pool, pool.name), rate(pool.rate) {
      if (pool.each.by.enabled()) each.emplace(pool.name, rules, pool.each);
      if (pool.total > 0) permits.emplace(pool.total);
    }
    Downstream downstream;
    RateLimiter rate;
    std::optional<KeyedLimits> each{};
    std::optional<pool::Permits> permits{};
  };

  static Delays delays(const config::Config& config) {
    Delays delays;
    for (const auto& delay : config::retry_delays(config))
      delays.emplace_back(delay.topic_of(config.topics.front()), delay.duration);
    return delays;
  }
  void add(const config::PoolSettings& pool, const config::Config& config, handler::Handler& work) {
    const DownstreamRules rules{{pool.breaker.failures, pool.breaker.window, pool.breaker.probe},
                                pool.breaker.slow,
                                config.dead_letter.max_rate};
    auto& parts = *parts_.emplace_back(std::make_unique<Parts>(pool, rules));
    auto& stage = context.stages.emplace_back();
    stage.settings = pool;
    stage.handler = &work;
    stage.downstream = &parts.downstream;
    stage.rate = &parts.rate;
    stage.each = parts.each ? &*parts.each : nullptr;
    stage.permits = parts.permits ? &*parts.permits : nullptr;
    const auto* next = config::find_pool(config, pool.then);
    stage.then = next == nullptr ? -1 : static_cast<int>(next - config.pools.data());
  }

  std::vector<std::unique_ptr<Parts>> parts_;
  std::optional<Router> router_;
};

}  // namespace laneway::lane
