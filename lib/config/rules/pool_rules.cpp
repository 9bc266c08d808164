#include "config/rules/pool_rules.h"

#include <algorithm>
#include <set>

#include "config/handlers/handlers.h"
#include "config/pools/pool_scope.h"
#include "config/pools/selector.h"
#include "config/text.h"

namespace laneway::config {
namespace {

class PoolRules {
 public:
  explicit PoolRules(RuleContext& rules) : rules_(rules), config_(rules.config()) {}

  void check() {
    if (!shows_pools(config_)) return check_without_pools();
    check_route();
    check_order_of_route();
    for (const PoolSettings& pool : config_.pools) check_names(pool);
    check_cycles();
    check_reach();
    for (const PoolSettings& pool : config_.pools) {
      check_helps(pool);
      check_gather(pool);
      check_each(pool);
      check_order(pool);
      check_effect(pool);
    }
    check_transactions();
  }

 private:
  static std::string key(const PoolSettings& pool, const char* name) { return pool.scope() + name; }

  std::string hint_for(const std::string& name) const {
    const auto names = names_of(config_.pools);
    if (const auto near = nearest(name, names)) return "did you mean the pool " + *near + "?";
    return "the pools are " + join(names, ", ");
  }

  void require_pool(const std::string& at, const std::string& name) {
    if (name.empty() || find_pool(config_, name) != nullptr) return;
    rules_.refuse({at}, "there is no pool " + in_quotes(name), hint_for(name));
  }

  void check_without_pools() {
    const auto& route = config_.route;
    if (route.by.enabled() || !route.rows.empty() || !route.otherwise.empty())
      rules_.refuse({"route.by", "route.pools", "route.default"},
                    "there are no pools to which records could go",
                    "name the pools below pools, or remove route");
    const auto workers = config_.unnamed.workers;
    if (config_.lanes.max_incomplete < workers)
      rules_.refuse({"lanes.max_incomplete", "lanes.workers"}, unused_workers("lanes.workers", workers),
                    "set lanes.max_incomplete to at least lanes.workers");
  }

  /// Why `workers`, named `whose`, are too many for lanes.max_incomplete.
  std::string unused_workers(const std::string& whose, std::uint32_t workers) const {
    return "lanes.max_incomplete is " + std::to_string(config_.lanes.max_incomplete) + ", less than " +
           whose + ", " + std::to_string(workers) + ", so some workers would never run a record";
  }

  void check_route() {
    const auto& route = config_.route;
    for (const auto& row : route.rows) require_pool("route.pools", row.pool);
    require_pool("route.default", route.otherwise);
    if (!route.by.enabled()) {
      if (!route.rows.empty() || !route.otherwise.empty())
        rules_.refuse({"route.pools", "route.default", "route.by"}, "this key has no effect without route.by",
                      "set route.by, such as header:tenant");
      return;
    }
    if (in_turn()) return check_turn();
    for (const auto& row : route.rows)
      if (row.text.empty())
        return rules_.refuse(
            {"route.pools"}, "a list is for records that the pools get in turn",
            "name the pool for each text, such as { gold: critical }, or set route.by: round_robin");
    if (route.otherwise.empty() && !rules_.concern("route.default"))
      rules_.refuse(
          {"route.by"}, "route.default is missing",
          "name the pool of all other records, which have an unknown text or none, in route.default");
    if (route.rows.empty() && !rules_.concern("route.pools"))
      rules_.refuse({"route.by"}, "route.pools is missing",
                    "name the pool for each text in route.pools, such as { gold: critical }");
  }

  bool in_turn() const { return config_.route.by.kind == Selector::Kind::round_robin; }

  /// A sub-job that comes back from a topic may come to another pool than before, and must find its way.
  void check_turn() {
    const auto& route = config_.route;
    const std::string with = "with route.by: round_robin ";
    if (!route.otherwise.empty())
      rules_.refuse({"route.default"}, with + "no record is left for another pool", "remove route.default");
    const auto has_text = [](const auto& row) { return !row.text.empty(); };
    if (std::any_of(route.rows.begin(), route.rows.end(), has_text))
      return rules_.refuse({"route.pools"}, with + "no text decides", "write a list, such as [east, west]");
    const auto first = entrances(config_);
    if (first.size() < 2 && !rules_.concern("route.pools"))
      return rules_.refuse({"route.by"}, "there are no two pools to take turns",
                           "name them in route.pools, such as [east, west]");
    for (const PoolSettings* pool : first)
      if (pool->then != first.front()->then)
        return rules_.refuse({key(*pool, "then"), "route.by"},
                             with + "all pools of the list lead to the same pool, or to none",
                             "set the same then in each of them");
    if (config_.lanes.order == Order::key)
      rules_.refuse({"route.by", "lanes.order"},
                    "with lanes.order: key the records of a key run one after the other, and this route "
                    "sends them to pools that run at the same time",
                    "set lanes.order: none, or route.by: key");
  }

  void check_names(const PoolSettings& pool) {
    require_pool(key(pool, "then"), pool.then);
    for (const auto& name : pool.helps) require_pool(key(pool, "helps"), name);
    const std::set<std::string> once(pool.helps.begin(), pool.helps.end());
    if (once.size() != pool.helps.size())
      rules_.refuse({key(pool, "helps")}, "a pool is named twice", "name each pool once");
  }

  using Names = std::vector<std::string>;

  /// Extends `path`, without the pools that were `seen`, until it comes back to its first pool.
  bool returns(Names& path, std::set<std::string>& seen, Names (*next)(const PoolSettings&)) const {
    const PoolSettings* last = find_pool(config_, path.back());
    for (const std::string& name : last == nullptr ? Names() : next(*last)) {
      if (name != path.front() && !seen.insert(name).second) continue;
      path.push_back(name);
      if (name == path.front() || returns(path, seen, next)) return true;
      path.pop_back();
    }
    return false;
  }

  /// From a pool along `next` back to the pool, the first one in the file; empty if there is no cycle.
  Names cycle_of(Names (*next)(const PoolSettings&)) const {
    for (const PoolSettings& pool : config_.pools) {
      Names path{pool.name};
      std::set<std::string> seen;
      if (returns(path, seen, next)) return path;
    }
    return {};
  }

  /// One problem for each kind of cycle.
  void check_cycles() {
    if (const auto cycle = cycle_of([](const PoolSettings& pool) { return Names{pool.then}; });
        !cycle.empty())
      rules_.refuse({"pools." + cycle.front() + ".then"},
                    "records would go round forever: " + join(cycle, " → "),
                    "let the last stage have no then");
    if (const auto cycle = cycle_of([](const PoolSettings& pool) { return pool.helps; }); !cycle.empty())
      rules_.refuse({"pools." + cycle.front() + ".helps"},
                    cycle.size() == 2 ? "a pool cannot help itself"
                                      : "pools would help each other: " + join(cycle, " → "),
                    "let a pool help only pools that are less urgent");
  }

  void check_reach() {
    if (rules_.concern("route") || rules_.concern("pools")) return;
    std::set<std::string> reached;
    for (const PoolSettings* pool : entrances(config_))
      for (; pool != nullptr && reached.insert(pool->name).second; pool = find_pool(config_, pool->then)) {
      }
    for (const PoolSettings& pool : config_.pools)
      if (!reached.contains(pool.name))
        rules_.refuse({"pools." + pool.name}, "no record ever comes to this pool",
                      config_.route.by.enabled()
                          ? "name it in route.pools, in route.default, or in then of another pool"
                          : "name it in then of another pool, or set route.by; without route.by all records "
                            "go to the first pool of the file, " +
                                config_.pools.front().name);
  }

  std::vector<const PoolSettings*> before(const PoolSettings& pool) const {
    std::vector<const PoolSettings*> found;
    for (const PoolSettings& one : config_.pools)
      if (one.then == pool.name) found.push_back(&one);
    return found;
  }
  bool is_stage(const PoolSettings& pool) const { return !before(pool).empty(); }

  const HandlerSchema& work(const PoolSettings& pool) const { return handler_of(config_.handler_of(pool)); }

  /// Whether a record of this pool can become sub-jobs.
  bool splits(const PoolSettings& pool) const {
    return work(pool).traits.gives_results || (!pool.handler && rules_.own_handler());
  }

  /// A pool whose records occupy no thread has no threads to lend.
  void check_helps(const PoolSettings& pool) {
    const auto needs_no_thread = [](const HandlerTraits& traits) {
      return traits.occupies == Occupies::nothing;
    };
    if (!needs_no_thread(work(pool).traits)) return;
    for (const auto& name : pool.helps) {
      const PoolSettings* helped = find_pool(config_, name);
      if (helped == nullptr || needs_no_thread(work(*helped).traits)) continue;
      return rules_.refuse({key(pool, "helps")},
                           "the handler " + std::string(work(pool).name) +
                               " of this pool has no threads, and the handler " +
                               std::string(work(*helped).name) + " of the pool " + name + " needs them",
                           "name only pools with the handler " + handlers_with(needs_no_thread) +
                               ", or give this pool a handler that runs on threads");
    }
  }

  void check_gather(const PoolSettings& pool) {
    if (!pool.gather) return;
    const auto entering = entrances(config_);
    if (!is_stage(pool))
      return rules_.refuse({key(pool, "gather")},
                           "no other pool leads to this one, so there are no results to gather",
                           "set then: " + pool.name + " in the pool whose results are gathered");
    const auto last = before(pool);
    const auto gives_results = [](const HandlerTraits& traits) { return traits.gives_results; };
    const bool split = std::any_of(last.begin(), last.end(), [&](const PoolSettings* of_parts) {
      const auto first = before(*of_parts);
      return std::any_of(first.begin(), first.end(), [&](const PoolSettings* one) { return splits(*one); });
    });
    if (!split)
      return rules_.refuse(
          {key(pool, "gather")},
          "no record becomes sub-jobs before it comes to this pool, so there is nothing to gather",
          "let the results of a pool with the handler " + handlers_with(gives_results) +
              " go to a pool that runs them, and from there to this one");
    if (std::find(entering.begin(), entering.end(), &pool) != entering.end())
      rules_.refuse({key(pool, "gather")},
                    "records also come to this pool from the topics, and have no results to gather",
                    "let route lead to another pool");
  }

  void check_each(const PoolSettings& pool) {
    const auto& each = pool.each;
    const bool limits = each.rate.records > 0 || each.rate.bytes > 0 || each.workers > 0;
    if (each.by.enabled() && !limits)
      rules_.refuse({key(pool, "each.by")}, "there is no limit for the records of one text",
                    "set each.rate.records, each.rate.bytes or each.workers");
    if (!each.by.enabled() && (limits || each.longest_wait > Duration::zero()))
      rules_.refuse({key(pool, "each.workers"), key(pool, "each.rate.records"), key(pool, "each.rate.bytes"),
                     key(pool, "each.longest_wait")},
                    "this key has no effect without each.by", "set each.by, such as part or key");
    if (each.longest_wait > Duration::zero() && !config_.dead_letter.enabled() &&
        !rules_.concern("dead_letter.topic"))
      rules_.refuse({key(pool, "each.longest_wait")},
                    "without a dead-letter topic no record is given up, so this key has no effect",
                    "set dead_letter.topic, such as \"{topic}-dlt\", or remove each.longest_wait");
    if (each.by.kind == Selector::Kind::part && !is_stage(pool))
      rules_.refuse({key(pool, "each.by")}, "no other pool leads to this one, so its records are no sub-jobs",
                    "set each.by: key, or a header, or let another pool lead to this one");
  }

  /// What would let a record overtake an earlier one of its partition, or of its key.
  void check_order(const PoolSettings& pool) {
    const auto& lanes = config_.lanes;
    if (!pool.adaptive.enabled() && lanes.max_incomplete < pool.workers)
      rules_.refuse({key(pool, "workers"), "lanes.max_incomplete"},
                    unused_workers("workers of the pool " + pool.name, pool.workers),
                    "set lanes.max_incomplete to at least the workers of each pool");
    if (lanes.order == Order::none) return;
    const std::string with = "with lanes.order: " + order_unit();
    if (pool.retry_workers > 0)
      rules_.refuse({key(pool, "retry_workers"), "lanes.order"},
                    with +
                        " a separate pool for retries would break the order: later records overtake a record "
                        "that runs again there",
                    "set lanes.order: none, or remove retry_workers");
    if (pool.each.by.enabled())
      rules_.refuse({key(pool, "each.by"), "lanes.order"},
                    with +
                        " limits for each text would break the order: later records overtake a record that "
                        "waits for its limit",
                    "set lanes.order: none, or remove each");
  }

  void check_order_of_route() {
    const auto by = config_.route.by.kind;
    if (config_.lanes.order != Order::partition || entrances(config_).size() < 2) return;
    if (by == Selector::Kind::none || by == Selector::Kind::topic) return;
    rules_.refuse({"route.by", "lanes.order"},
                  "with lanes.order: partition the records of a partition run one after the other, and this "
                  "route sends them to pools that run at the same time",
                  "set lanes.order: key or none, or route.by: topic");
  }

  std::string order_unit() const { return config_.lanes.order == Order::key ? "key" : "partition"; }

  void check_effect(const PoolSettings& pool) {
    if (pool.helps.empty() && pool.longest_wait != PoolSettings().longest_wait)
      rules_.refuse({key(pool, "longest_wait")}, "this key has no effect without helps",
                    "name the pools that this pool helps, or remove this key");
    if (!pool.adaptive.enabled() && pool.total > 0 && pool.total < pool.workers)
      rules_.refuse({key(pool, "workers")},
                    "workers is " + std::to_string(pool.workers) + ", more than total, " +
                        std::to_string(pool.total) + ", so some workers would never run a record",
                    "set workers to at most total");
    if (pool.adaptive.enabled() && pool.total > 0)
      rules_.refuse({key(pool, "total")},
                    "with a range of workers, its max is the limit of the process already",
                    "remove total, or give workers as a number");
  }

  void check_transactions() {
    const std::string what =
        "a transaction holds the records of one run of a lane, and pools finish their records apart";
    const std::string hint = "set transactional: false, or remove pools";
    for (const PoolSettings& pool : config_.pools) {
      const auto output = output_of(config_.handler_of(pool));
      const auto scope = pool.handler ? pool.scope() : "";
      if (output && output->transactional)
        rules_.refuse({scope + "handler." + std::string(work(pool).name) + ".transactional"}, what, hint);
    }
  }

  RuleContext& rules_;
  const Config& config_;
};

}  // namespace

void check_pool_rules(RuleContext& rules) { PoolRules(rules).check(); }

std::vector<std::string> warnings_about_pools(const Config& config) {
  using Kind = Selector::Kind;
  const auto by = config.route.by.kind;
  if (config.lanes.order != Order::key || (by != Kind::header && by != Kind::value)) return {};
  if (entrances(config).size() < 2) return {};
  return {"lanes.order: key holds within each pool: records of one key that route.by: " +
          print_selector(config.route.by) +
          " sends to different pools run at the same time (route by key or topic if their order matters)"};
}

}  // namespace laneway::config
