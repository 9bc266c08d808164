#include "config/schema/schema_pools.h"

#include "base/cores.h"
#include "config/pools/pool_path.h"
#include "config/pools/selector.h"
#include "config/schema/shared_rows.h"
#include "config/schema/workers_row.h"

namespace laneway::config {
namespace {

using std::chrono::hours;

constexpr Reload paths_at_start = Reload::restart("records that are under way follow the old path");
constexpr std::string_view limit_at_start = "the limit of the process is created at the start";

#define AT(field) \
  [](auto& config) -> auto& { return config.field; }
/// The field of the only pool.
#define OF_POOL(field) \
  [](auto& config) -> auto& { return config.pools.front().field; }

std::string no_check(const std::vector<std::string>&) { return ""; }

Result<std::string> read_pool_name(const std::string& name) {
  auto what = check_pool_name(name);
  if (!what.empty()) return wrong_value(std::move(what));
  return name;
}

Result<Selector> parse_route(const std::string& written) {
  if (written == "round_robin") return Selector{Selector::Kind::round_robin, ""};
  return parse_selector(written, false);
}

Result<Selector> parse_each(const std::string& written) { return parse_selector(written, true); }

template <class Access>
Property selector_property(std::string name, std::string expects, std::string description,
                           Result<Selector> (*parse)(const std::string&), Access access) {
  return scalar_property(std::move(name), paths_at_start, std::move(expects), std::move(description), access,
                         parse,
                         [](const Selector& selector) { return yaml_scalar(print_selector(selector)); });
}

/// The earlier row that matches everything that `row` matches; null if there is none.
const Route::Row* hiding(const std::vector<Route::Row>& rows, const Route::Row& row) {
  for (const auto& before : rows)
    if (before.text == row.text || (before.prefix && row.text.starts_with(before.text))) return &before;
  return nullptr;
}

std::optional<BadValue> add_row(std::vector<Route::Row>& rows, const Entry& entry) {
  const auto key = key_node(entry);
  Route::Row row{entry.key, entry.key.ends_with('*'), ""};
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

Property rows_property() {
  Property property("route.pools", paths_at_start,
                    "a map of texts, or beginnings of texts with a *, to the names of pools, such as { gold: "
                    "critical, \"free-*\": bulk }, or with route.by: round_robin a list of names",
                    "The pool of the records with a text. `\"free-*\"` matches every text that begins with "
                    "free-. The first text that matches decides.");
  property.structured = true;
  property.set = [](Config& config, const Node& node) -> std::optional<BadValue> {
    if (!node.is_map() && !node.is_list() && !node.is_null()) return BadValue{node, ""};
    config.route.rows.clear();
    for (const Node& item : node.items) {
      if (!item.is_scalar()) return BadValue{item, "an element of the list is not the name of one pool"};
      config.route.rows.push_back({"", false, item.text});
    }
    for (const Entry& entry : node.entries)
      if (auto bad = add_row(config.route.rows, entry)) return bad;
    return std::nullopt;
  };
  property.print = [](const Config& config) {
    std::vector<std::string> items;
    const bool in_turn = config.route.by.kind == Selector::Kind::round_robin;
    for (const auto& row : config.route.rows)
      items.push_back((in_turn ? "" : yaml_scalar(row.text + (row.prefix ? "*" : "")) + ": ") +
                      yaml_scalar(row.pool));
    if (in_turn) return "[" + join(items, ", ") + "]";
    return items.empty() ? std::string("{}") : "{ " + join(items, ", ") + " }";
  };
  return property;
}

void add_route(std::vector<Property>& table) {
  table.push_back(selector_property(
      "route.by", "topic, key, header:NAME, value:POINTER with a JSON pointer into the value, or round_robin",
      "What decides which of the pools a record goes to. `round_robin` sends the records to the pools of the "
      "list `route.pools` in turn. Without this key, all records go to the first pool of the file.",
      parse_route, AT(route.by)));
  table.push_back(rows_property());
  table.push_back(text("route.default", paths_at_start, "the name of a pool",
                       "The pool of every other record: one with an unknown text, without the header or the "
                       "field, or with a value that is not JSON. Required with `route.by`.",
                       AT(route.otherwise),
                       [](const std::string& name) { return name.empty() ? name : check_pool_name(name); }));
}

Property total_property() {
  constexpr std::uint32_t most = 1'000'000;
  auto property = scalar_property(
      "pools.NAME.total", in_flight, "a whole number from 0 to 1000000, or cores",
      "Maximum number of records of the pool that run at the same time in the process, over all partitions. "
      "0 means no limit; a change from 0 or to 0 needs a restart. `cores` is the number of processor cores, "
      "which is right for work that computes. A pool that another pool leads to, with the handler exec or "
      "plugin and neither `workers` nor `total`, has `cores`.",
      OF_POOL(total),
      [](const std::string& written) {
        return written == "cores" ? Result<std::uint32_t>(cores())
                                  : parse_number<std::uint32_t>(written, 0, most);
      },
      [](std::uint32_t total) { return std::to_string(total); });
  property.most = most;
  property.restart_for = [](const Config& a, const Config& b) {
    return (a.pools.front().total == 0) == (b.pools.front().total == 0) ? std::string_view() : limit_at_start;
  };
  return property;
}

void add_pool_sizes(std::vector<Property>& table) {
  table.push_back(workers_property(
      "pools.NAME.workers",
      "Maximum number of records of one partition that run at the same time in the pool, or, with an "
      "algorithm, a range for all records of the pool in the process. The default is that of "
      "`lanes.workers`.",
      [](auto& config) -> auto& { return config.pools.front(); }));
  table.push_back(count("pools.NAME.queue", in_flight, 0, 1'000'000,
                        "Maximum number of records of one partition that wait for a worker of the pool. The "
                        "default is that of `lanes.queue`.",
                        OF_POOL(queue)));
  table.push_back(total_property());
}

Property retry_workers_property() {
  auto property = count("pools.NAME.retry_workers", in_flight, 0, most_workers,
                        "Number of workers of a separate pool in which the failed records of this pool run "
                        "again, so that they take no workers from new records. 0 means that they run again "
                        "in this pool; a change from 0 or to 0 needs a restart.",
                        OF_POOL(retry_workers));
  property.restart_for = [](const Config& a, const Config& b) -> std::string_view {
    if ((a.pools.front().retry_workers == 0) == (b.pools.front().retry_workers == 0)) return {};
    return "the separate pool is created with its lane";
  };
  return property;
}

void add_pool_priorities(std::vector<Property>& table) {
  table.push_back(list_property(
      "pools.NAME.helps", paths_at_start, "a list of names of pools",
      "Pools whose records the idle workers of this pool run, the first ones first. See [pools](pools.md).",
      OF_POOL(helps), read_pool_name, yaml_scalar, no_check));
  table.push_back(duration("pools.NAME.longest_wait", in_flight, milliseconds(1), hours(1),
                           "With `helps`: a record of this pool that has waited for this time runs before "
                           "records of the pools that it helps.",
                           OF_POOL(longest_wait)));
}

void add_pool_stages(std::vector<Property>& table) {
  table.push_back(text("pools.NAME.then", paths_at_start, "the name of a pool, or \"\" for none",
                       "The pool that gets the results of this pool's handler. Several results of one record "
                       "are sub-jobs, and the record is finished when all of them are.",
                       OF_POOL(then),
                       [](const std::string& name) { return name.empty() ? name : check_pool_name(name); }));
  table.push_back(flag("pools.NAME.gather", paths_at_start,
                       "Whether the pool gets one record, with the results of all sub-jobs of a record as a "
                       "JSON array, when all of them are done.",
                       OF_POOL(gather)));
}

void add_pool_each(std::vector<Property>& table) {
  table.push_back(selector_property("pools.NAME.each.by",
                                    "part, topic, key, header:NAME or value:POINTER, or \"\" for none",
                                    "What tells subscribers, tenants or the like apart. All records with the "
                                    "same text share the limits below and a breaker of their own.",
                                    parse_each, OF_POOL(each.by)));
  add_rate(table, "pools.NAME.each.rate", "the pool and have the same text", OF_POOL(each.rate));
  table.push_back(count("pools.NAME.each.workers", in_flight, 0, 1'000'000,
                        "Maximum number of records with the same text that run at the same time in the "
                        "process. 0 means no limit.",
                        OF_POOL(each.workers)));
  table.push_back(duration("pools.NAME.each.longest_wait", in_flight, Duration::zero(), hours(24),
                           "A record that cannot begin for this time, because the records with its text are "
                           "at their limit or their breaker is open, is given up: it goes to its retry topic "
                           "or to the dead-letter topic. 0s means never.",
                           OF_POOL(each.longest_wait)));
}

}  // namespace

void add_pool_properties(std::vector<Property>& table) {
  add_route(table);
  add_pool_sizes(table);
  table.push_back(retry_workers_property());
  add_pool_priorities(table);
  add_pool_stages(table);
  add_rate(table, "pools.NAME.rate", "this pool, in the process", OF_POOL(rate));
  add_breaker(table, "pools.NAME.breaker", OF_POOL(breaker));
  add_pool_each(table);
}

#undef AT
#undef OF_POOL

}  // namespace laneway::config
