// Named pools and routing: from the file, the environment and --set to Config::pools, and the mistakes in
// them.
#include "config/pools.h"

#include "base/cores.h"
#include "catch.h"
#include "config/output/print.h"
#include "config/pools/pool_scope.h"
#include "config/reload.h"
#include "loaded.h"

using namespace laneway;
using namespace laneway::config;

namespace {

const std::string tiers =
    base +
    "route: { by: header:tenant, pools: { gold: critical, \"free-*\": bulk }, default: bulk }\n"
    "pools:\n"
    "  critical: { workers: 32, helps: [bulk], longest_wait: 1s }\n"
    "  bulk: { workers: 4, queue: 16, breaker: { failures: 9 } }\n";

Config pools_config(const std::string& text, std::map<std::string, std::string> environment = {},
                    std::vector<std::string> sets = {}) {
  const auto result = loaded(text, std::move(environment), std::move(sets));
  INFO(report(result.errors));
  REQUIRE(result.config);
  return *result.config;
}

std::string with_pools(const std::string& pools) { return errors_of(base + "pools:\n" + pools); }

bool names(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

}  // namespace

TEST_CASE("a pool has its own settings, and the service's settings for the rest") {
  const auto config = pools_config(tiers + "lanes: { queue: 99 }\nbreaker: { failures: 3 }\n");
  REQUIRE(config.pools.size() == 2);
  const auto& critical = config.pools[0];
  CHECK(critical.name == "critical");
  CHECK(critical.workers == 32);
  CHECK_FALSE(critical.adaptive.enabled());
  CHECK(critical.queue == 99);
  CHECK(critical.breaker.failures == 3);
  CHECK(critical.helps == std::vector<std::string>{"bulk"});
  CHECK_FALSE(critical.handler);
  CHECK(config.pools[1].queue == 16);
  CHECK(config.pools[1].breaker.failures == 9);
  CHECK(config.route.by == Selector{Selector::Kind::header, "tenant"});
  REQUIRE(config.route.rows.size() == 2);
  CHECK(config.route.rows[1].text == "free-");
  CHECK(config.route.rows[1].prefix);
  CHECK(config.route.otherwise == "bulk");
}

TEST_CASE("a range of workers follows the downstream by vegas, unless another algorithm is named") {
  const auto algorithm_of = [](const std::string& workers) {
    const auto config =
        pools_config(base + "lanes: { workers: { min: 2, max: 9 } }\npools:\n  a: { workers: " + workers +
                     " }\nroute: { by: key, pools: { k: a }, default: a }\n");
    CHECK(config.unnamed.adaptive.algorithm == AdaptiveAlgorithm::vegas);
    return config.pools[0].adaptive.algorithm;
  };
  CHECK(algorithm_of("{ max: 64 }") == AdaptiveAlgorithm::vegas);
  CHECK(algorithm_of("{ min: 2, max: 64, algorithm: aimd }") == AdaptiveAlgorithm::aimd);
  CHECK(algorithm_of("5") == AdaptiveAlgorithm::none);
}

TEST_CASE("pools that take turns are a list, which is printed as it was written") {
  const std::string turn = "route: { by: round_robin, pools: [east, west, east] }\n";
  const auto config = pools_config(base + turn + "pools:\n  east: {}\n  west: {}\n");
  CHECK(config.route.by == Selector{Selector::Kind::round_robin, ""});
  REQUIRE(config.route.rows.size() == 3);
  CHECK(config.route.rows[2].pool == "east");
  CHECK(entrances(config).size() == 2);
  const auto printed = print(config);
  CHECK(printed.find("by: round_robin") != printed.npos);
  CHECK(printed.find("pools: [east, west, east]") != printed.npos);
}

TEST_CASE("pools can have handlers of their own, and the service then needs no handler") {
  const std::string no_handler = base.substr(0, base.find("handler:"));
  const auto config =
      pools_config(no_handler +
                   "pools:\n  fetch: { handler: { http: { url: \"http://h/\" } }, then: store }\n"
                   "  store: { handler: log }\n");
  CHECK(std::holds_alternative<HttpSettings>(*config.pools[0].handler));
  CHECK(std::holds_alternative<LogSettings>(*config.pools[1].handler));
  const auto stages = stages_of(config);
  REQUIRE(stages.size() == 2);
  CHECK(stages[0].passes_on());
  CHECK_FALSE(stages[1].passes_on());
  CHECK(names(errors_of(no_handler + "pools:\n  a: { handler: { http: {} } }\n"),
              "pools.a.handler.http.url: this key is missing"));
  CHECK(names(with_pools("  a: { handler: log }\n"), "each pool has a handler of its own"));
}

TEST_CASE("pools are ordered, so that then leads to later pools") {
  const auto config = pools_config(base + "pools:\n  a: { then: c }\n  b: {}\n  c: { then: b }\n");
  REQUIRE(config.pools.size() == 3);
  CHECK(config.pools[0].name == "a");
  CHECK(config.pools[1].name == "c");
  CHECK(config.pools[2].name == "b");
}

TEST_CASE("total: cores is the number of cores, and the default of stages that compute") {
  const auto config = pools_config(base +
                                       "pools:\n  a: { total: cores, then: b }\n"
                                       "  b: { handler: { exec: { command: [cat] } } }\n",
                                   {{"PATH", "/bin:/usr/bin"}});
  CHECK(config.pools[0].total == cores());
  CHECK(config.pools[0].workers <= cores());
  CHECK(config.pools[1].total == cores());
}

TEST_CASE("keys of a pool can be set from outside, but pools only in the file") {
  const auto config = pools_config(base + "pools:\n  free-tier: { workers: 4 }\n",
                                   {{"LANEWAY_POOLS__FREE_TIER__QUEUE", "7"}}, {"pools.free-tier.workers=5"});
  CHECK(config.pools[0].workers == 5);
  CHECK(config.pools[0].queue == 7);
  CHECK(errors_of(tiers, {}, {"pools.critcal.workers=5"}) ==
        "--set pools.critcal.workers: the file has no pool critcal (did you mean the pool critical?)\n");
  CHECK(names(errors_of(tiers, {{"LANEWAY_POOLS__OTHER__WORKERS", "5"}}), "the file has no pool other"));
  CHECK(names(
      errors_of(base + "pools:\n  a-b: { then: a_b }\n  a_b: {}\n", {{"LANEWAY_POOLS__A_B__WORKERS", "5"}}),
      "could mean the pool a-b or the pool a_b"));
}

TEST_CASE("a mistake in pools or routes is named") {
  CHECK(names(with_pools("  a: { workrs: 3 }\n"), "did you mean pools.a.workers?"));
  CHECK(names(with_pools("  \"a b\": {}\n"), "letters, digits, - and _ only"));
  CHECK(names(with_pools("  a: { then: c }\n  b: {}\n"), "there is no pool \"c\""));
  CHECK(names(with_pools("  a: { then: b }\n  b: { then: a }\n"), "a → b → a"));
  CHECK(names(with_pools("  a: { helps: [a] }\n"), "a pool cannot help itself"));
  CHECK(names(with_pools("  a: {}\n  b: {}\n"), "pools.b: no record ever comes to this pool"));
  CHECK(names(with_pools("  a: { gather: true }\n"), "no results to gather"));
  CHECK(names(with_pools("  a: { each: { by: key } }\n"), "there is no limit for the records of one text"));
  CHECK(names(with_pools("  a: { each: { workers: 3 } }\n"), "no effect without each.by"));
  CHECK(names(with_pools("  a: { workers: { min: 9, max: 3, algorithm: aimd } }\n"),
              "min is 9, more than max, 3"));
  CHECK(names(errors_of(base + "route: { by: key }\n"), "there are no pools"));
  const std::string one = base + "pools: { a: {} }\nroute: ";
  CHECK(names(errors_of(one + "{ by: key, pools: { x: a } }\n"), "route.default is missing"));
  CHECK(names(errors_of(one + "{ by: \"value:x\", pools: { x: a }, default: a }\n"),
              "does not begin with a /"));
  CHECK(names(errors_of(one + "{ by: key, pools: { \"\": a }, default: a }\n"), "an empty text"));
  CHECK(
      names(errors_of(one + "{ by: key, pools: { \"x*\": a, xy: a }, default: a }\n"), "already goes to a"));
  CHECK(names(errors_of(base.substr(0, base.find("handler:")) +
                        "handler: { produce: { topic: out, transactional: true } }\npools: { a: {} }\n"),
              "pools finish their records apart"));
}

TEST_CASE("records of one key in different pools cause a warning") {
  const auto result = loaded(tiers + "lanes: { order: key }\n");
  REQUIRE(result.config);
  CHECK(
      names(report({}) + (result.warnings.empty() ? "" : result.warnings.front()), "holds within each pool"));
}

TEST_CASE("printed pools read back unchanged") {
  const auto config = pools_config(tiers);
  CHECK(print(pools_config(print(config))) == print(config));
}

TEST_CASE("the sizes of a pool change while the service runs, but its path does not") {
  const auto live = changes(pools_config(tiers), pools_config(tiers, {}, {"pools.bulk.workers=9"}));
  REQUIRE(live.size() == 1);
  CHECK(live[0].text() == "pools.bulk.workers: 4 → 9");
  CHECK(live[0].restart.empty());
  const auto path = changes(pools_config(tiers), pools_config(tiers, {}, {"route.default=critical"}));
  REQUIRE(path.size() == 1);
  CHECK_FALSE(path[0].restart.empty());
  CHECK_FALSE(
      changes(pools_config(tiers), pools_config(tiers, {}, {"pools.bulk.total=9"}))[0].restart.empty());
}
