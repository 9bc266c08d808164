#include "config/schema/pool_rows.h"

#include <utility>

#include "base/cores.h"
#include "config/pools/pool_path.h"
#include "config/pools/selector.h"

namespace laneway::config {
namespace {

using std::chrono::hours;

constexpr std::uint32_t most_workers = 4096;

constexpr Reload paths_at_start = Reload::restart("records that are under way follow the old path");

const Words<AdaptiveAlgorithm>& algorithms() {
  static const Words<AdaptiveAlgorithm> words = {{"aimd", AdaptiveAlgorithm::aimd},
                                                 {"vegas", AdaptiveAlgorithm::vegas},
                                                 {"gradient", AdaptiveAlgorithm::gradient}};
  return words;
}

std::optional<BadValue> read_number(std::uint32_t& number, const Node& node) {
  return count(1, most_workers).set(number, node);
}

std::optional<BadValue> read_algorithm(AdaptiveAlgorithm& algorithm, const Node& node) {
  const auto found = node.is_scalar() ? value_of(algorithms(), node.text) : std::nullopt;
  if (!found) return BadValue{node, "the algorithms are aimd, vegas and gradient"};
  algorithm = *found;
  return std::nullopt;
}

std::optional<BadValue> read_workers(std::tuple<std::uint32_t&, AdaptiveLimitSettings&> workers,
                                     const Node& node) {
  std::uint32_t most = 0;
  if (!node.is_map()) {
    auto bad = read_number(most, node);
    if (!bad) workers = std::tuple(most, AdaptiveLimitSettings{});
    return bad;
  }
  AdaptiveLimitSettings adaptive{.algorithm = AdaptiveAlgorithm::vegas};
  for (const Entry& entry : node.entries) {
    std::optional<BadValue> bad;
    if (entry.key == "min")
      bad = read_number(adaptive.min, entry.value);
    else if (entry.key == "max")
      bad = read_number(most, entry.value);
    else if (entry.key == "algorithm")
      bad = read_algorithm(adaptive.algorithm, entry.value);
    else
      bad = BadValue{key_node(entry), "the keys are min, max and algorithm"};
    if (bad) return bad;
  }
  if (most == 0) return BadValue{node, "max is missing"};
  if (adaptive.min > most)
    return BadValue{node,
                    "min is " + std::to_string(adaptive.min) + ", more than max, " + std::to_string(most)};
  workers = std::tuple(most, adaptive);
  return std::nullopt;
}

std::string print_workers(std::tuple<const std::uint32_t&, const AdaptiveLimitSettings&> workers) {
  const auto& [most, adaptive] = workers;
  if (!adaptive.enabled()) return std::to_string(most);
  return "{ min: " + std::to_string(adaptive.min) + ", max: " + std::to_string(most) +
         ", algorithm: " + word_of(algorithms(), adaptive.algorithm) + " }";
}

Result<Selector> parse_route(const std::string& written) {
  if (written == "round_robin") return Selector{Selector::Kind::round_robin, ""};
  return parse_selector(written, false);
}

Result<Selector> parse_each(const std::string& written) { return parse_selector(written, true); }

auto selector(std::string expects, Result<Selector> (*parse)(const std::string&)) {
  return scalar(std::move(expects), parse,
                [](const Selector& found) { return yaml_scalar(print_selector(found)); });
}

/// The earlier row that matches everything that `row` matches; null if there is none.
const RouteSettings::Row* hiding(const std::vector<RouteSettings::Row>& rows, const RouteSettings::Row& row) {
  for (const auto& before : rows)
    if (before.text == row.text || (before.prefix && row.text.starts_with(before.text))) return &before;
  return nullptr;
}

std::optional<BadValue> add_row(std::vector<RouteSettings::Row>& rows, const Entry& entry) {
  const auto key = key_node(entry);
  RouteSettings::Row row{entry.key, entry.key.ends_with('*'), ""};
  if (row.prefix) row.text.pop_back();
  if (entry.key.empty()) return BadValue{key, "an empty text matches no record"};
  if (row.text.empty()) return BadValue{key, "* alone is every record: that is route.default"};
  if (row.text.find('*') != row.text.npos) return BadValue{key, "a * stands only at the end, for any text"};
  if (const auto* before = hiding(rows, row); before != nullptr)
    return BadValue{key, "every such text already goes to " + before->pool + " by " +
                             in_quotes(before->text + (before->prefix ? "*" : "")) +
                             " above it; the first text that matches decides"};
  if (!entry.value.is_scalar()) return BadValue{entry.value, "the name of one pool is needed"};
  row.pool = entry.value.text;
  rows.push_back(std::move(row));
  return std::nullopt;
}

std::optional<BadValue> read_rows(std::vector<RouteSettings::Row>& rows, const Node& node) {
  if (!node.is_map() && !node.is_list() && !node.is_null()) return BadValue{node, ""};
  rows.clear();
  for (const Node& item : node.items) {
    if (!item.is_scalar()) return BadValue{item, "an element of the list is not the name of one pool"};
    rows.push_back({"", false, item.text});
  }
  for (const Entry& entry : node.entries)
    if (auto bad = add_row(rows, entry)) return bad;
  return std::nullopt;
}

std::string print_rows(const std::vector<RouteSettings::Row>& rows) {
  std::vector<std::string> items;
  const bool in_turn = !rows.empty() && rows.front().text.empty();
  for (const auto& row : rows)
    items.push_back((in_turn ? "" : yaml_scalar(row.text + (row.prefix ? "*" : "")) + ": ") +
                    yaml_scalar(row.pool));
  return in_turn ? "[" + join(items, ", ") + "]" : flow_map(items);
}

auto total() {
  constexpr std::uint32_t most = 1'000'000;
  auto form = scalar(
      "a whole number from 0 to 1000000, or cores",
      [](const std::string& written) {
        return written == "cores" ? Result<std::uint32_t>(cores())
                                  : parse_number<std::uint32_t>(written, 0, most);
      },
      [](std::uint32_t number) { return std::to_string(number); });
  form.most = most;
  return form;
}

Rows route_rows() {
  return {
      {"route.by", paths_at_start,
       selector("topic, key, header:NAME, value:POINTER with a JSON pointer into the value, or round_robin",
                parse_route),
       AT(route.by),
       "What decides which of the pools a record goes to. `round_robin` sends the records to the pools of "
       "the list `route.pools` in turn. Without this key, all records go to the first pool of the file."},
      {"route.pools", paths_at_start,
       structured("a map of texts, or beginnings of texts with a *, to the names of pools, such as { gold: "
                  "critical, \"free-*\": bulk }, or with route.by: round_robin a list of names",
                  read_rows, print_rows),
       AT(route.rows),
       "The pool of the records with a text. `\"free-*\"` matches every text that begins with free-. The "
       "first text that matches decides."},
      {"route.default", paths_at_start, text("the name of a pool", empty_or(check_pool_name)),
       AT(route.otherwise),
       "The pool of every other record: one with an unknown text, without the header or the field, or with a "
       "value that is not JSON. Required with `route.by`."},
  };
}

Rows size_rows() {
  return {
      workers_row("pools.NAME.workers",
                  "Maximum number of records of one partition that run at the same time in the pool, or a "
                  "range, `{ min, max, algorithm }`, for all records of the pool in the process. The default "
                  "is that of "
                  "`lanes.workers`."),
      {"pools.NAME.queue", in_flight, count(0, 1'000'000), OF_POOL(queue),
       "Maximum number of records of one partition that wait for a worker of the pool. The default is that "
       "of `lanes.queue`."},
      restarting(
          {"pools.NAME.total", in_flight, total(), OF_POOL(total),
           "Maximum number of records of the pool that run at the same time in the process, over all "
           "partitions. 0 means no limit; a change from 0 or to 0 needs a restart. `cores` is the number of "
           "processor cores, which is right for work that computes. A pool that another pool leads to, with "
           "the handler exec or plugin and neither `workers` nor `total`, has `cores`."},
          "the limit of the process is created at the start",
          [](const ConstScope& scope) { return scope.pool.total == 0; }),
      restarting({"pools.NAME.retry_workers", in_flight, count(0, most_workers), OF_POOL(retry_workers),
                  "Number of workers of a separate pool in which the failed records of this pool run again, "
                  "so that they take no workers from new records. 0 means that they run again in this pool; "
                  "a change from 0 or to 0 needs a restart."},
                 "the separate pool is created with its lane",
                 [](const ConstScope& scope) { return scope.pool.retry_workers == 0; }),
  };
}

Rows path_rows() {
  return {
      {"pools.NAME.helps", paths_at_start, list("a list of names of pools", checked(check_pool_name)),
       OF_POOL(helps),
       "Pools whose records the idle workers of this pool run, the first ones first. See [pools](pools.md)."},
      {"pools.NAME.longest_wait", in_flight, duration(milliseconds(1), hours(1)), OF_POOL(longest_wait),
       "With `helps`: records of this pool that have waited in its queue for this time get a twentieth of "
       "the "
       "time of its workers before records of the pools that it helps."},
      {"pools.NAME.then", paths_at_start,
       text("the name of a pool, or \"\" for none", empty_or(check_pool_name)), OF_POOL(then),
       "The pool that gets the results of this pool's handler. Several results of one record are sub-jobs, "
       "and the record is finished when all of them are."},
      {"pools.NAME.gather", paths_at_start, flag(), OF_POOL(gather),
       "Whether the pool gets one record, with the results of all sub-jobs of a record as a JSON array, when "
       "all of them are done."},
  };
}

Rows each_rows() {
  return joined(
      {{{"pools.NAME.each.by", paths_at_start,
         selector("part, topic, key, header:NAME or value:POINTER, or \"\" for none", parse_each),
         OF_POOL(each.by),
         "What tells subscribers, tenants or the like apart. All records with the same text share "
         "the limits below and a breaker of their own."}},
       rate_rows("pools.NAME.each.rate", "the pool and have the same text", OF_POOL(each.rate)),
       {
           {"pools.NAME.each.workers", in_flight, count(0, 1'000'000), OF_POOL(each.workers),
            "Maximum number of records with the same text that run at the same time in the "
            "process. 0 means no limit."},
           {"pools.NAME.each.longest_wait", in_flight, duration(Duration::zero(), hours(24 * 7)),
            OF_POOL(each.longest_wait),
            "A record that waits for this time, in its lane and in retry topics, because the records "
            "with its text are at their limit or their breaker is open, while others of the pool are done, "
            "is given up: it goes to the dead-letter topic. 0s means never."},
       }});
}

}  // namespace

Property workers_row(std::string name, std::string description) {
  auto form =
      structured("a whole number from 1 to 4096, or { min, max, algorithm }", read_workers, print_workers);
  form.most = most_workers;
  return restarting(
      {std::move(name), in_flight, form, both(OF_POOL(workers), OF_POOL(adaptive)), std::move(description)},
      "the limit that follows the downstream is created at the start",
      [](const ConstScope& scope) { return scope.pool.adaptive.algorithm; });
}

Rows breaker_rows(const std::string& section) {
  return {
      {section + ".failures", in_flight, count(0, 1'000'000), OF_POOL(breaker.failures),
       "Minimum number of different records that must fail in a row before the breaker opens. The breaker "
       "also opens when half of the records in `breaker.window` have failed. 0 disables the breaker, and "
       "every failure counts against its record."},
      {section + ".window", in_flight, duration(seconds(1), hours(1)), OF_POOL(breaker.window),
       "The time over which the calls of different records are compared."},
      {section + ".probe", in_flight, duration(milliseconds(1), hours(1)), OF_POOL(breaker.probe),
       "How long an open breaker waits before a record probes the downstream."},
      {section + ".slow", in_flight, duration(Duration::zero(), hours(1)), OF_POOL(breaker.slow),
       "A call that takes longer than this time counts as a failure of the downstream. 0s disables this."},
  };
}

Rows rows_of_pools() {
  return joined({route_rows(), size_rows(), path_rows(),
                 rate_rows("pools.NAME.rate", "this pool, in the process", OF_POOL(rate)),
                 breaker_rows("pools.NAME.breaker"), each_rows()});
}

}  // namespace laneway::config
