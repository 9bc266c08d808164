#include "config/schema/schema.h"

#include <algorithm>
#include <iterator>

#include "config/checks/checks.h"
#include "config/handlers/handlers.h"
#include "config/pools/pool_path.h"
#include "config/schema/schema_failure.h"
#include "config/schema/schema_pools.h"
#include "config/schema/trace_headers.h"
#include "config/schema/workers_row.h"
#include "config/yaml/read_file.h"

namespace laneway::config {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

constexpr Reload order_at_start = Reload::restart("records that are running follow the old order");
constexpr Reload listener_at_start = Reload::restart("the admin server opens its address at the start");
constexpr Reload opened_at_start = Reload::restart("the output is opened at the start");
constexpr Reload exporter_at_start = Reload::restart("the exporter of spans is created at the start");

/// A generic lambda from a Config to one of its fields, for the table below.
#define AT(field) \
  [](auto& config) -> auto& { return config.field; }
constexpr Reload subscribed_at_start =
    Reload::restart("the members of the group have subscribed to the old topics");

Result<std::string> parse_topic(const std::string& topic) {
  auto what = check_topic(topic);
  if (!what.empty()) return wrong_value(std::move(what));
  return topic;
}

Result<std::string> parse_consumed_topic(const std::string& topic) {
  auto what = check_consumed_topic(topic);
  if (!what.empty()) return wrong_value(std::move(what));
  return topic;
}

Property topics_property() {
  auto property =
      list_property("topics", subscribed_at_start, "a list of topic names, or one pattern that starts with ^",
                    "The topics that laneway consumes. A pattern is a regular expression (POSIX extended "
                    "syntax), and also matches topics that are created later. It never finds the topics to "
                    "which this service writes: its dead-letter topics, and those of `handler.produce`.",
                    AT(topics), parse_consumed_topic, yaml_scalar, check_topics);
  property.example = "[orders]";
  return property;
}

Property exclude_topics_property() {
  return list_property(
      "exclude_topics", subscribed_at_start, "a list of topic names, and of patterns that start with ^",
      "Topics that the pattern in `topics` leaves out, such as `[orders-test, \"^orders-old\"]`.",
      AT(exclude_topics), parse_topic, yaml_scalar, check_distinct);
}

void add_lane_sizes(std::vector<Property>& table) {
  table.push_back(
      workers_property("lanes.workers",
                       "Maximum number of records of one partition that run at the same time. With `{ min: "
                       "2, max: 64, algorithm: aimd }` (or `vegas`, `gradient`) the number follows the "
                       "downstream, between `min` and `max` records of the whole process.",
                       AT(lanes)));
  table.push_back(count("lanes.queue", in_flight, 0, 1'000'000,
                        "Maximum number of records of one partition that wait for a worker, in addition to "
                        "the running records. A lane whose queue is full holds.",
                        AT(lanes.queue)));
  table.push_back(
      size("lanes.memory", Reload::restart("the buffers of the client are sized at the start"), 1ULL << 20,
           1ULL << 40,
           "Memory for all fetched, queued and running records of the process. All partitions share it.",
           AT(lanes.memory)));
  table.push_back(count("lanes.max_incomplete", in_flight, 1, 10'000'000,
                        "Maximum number of records from the oldest unfinished record of a partition to the "
                        "newest record that its lane has taken. A lane that reaches the limit holds.",
                        AT(lanes.max_incomplete)));
}

void add_lane_order(std::vector<Property>& table) {
  table.push_back(choice<Order>("lanes.order", order_at_start,
                                {{"none", Order::none}, {"key", Order::key}, {"partition", Order::partition}},
                                "Which records run one after the other: `none`, the records with the same "
                                "`key`, or all records of a `partition`. Order costs throughput: a record "
                                "that fails then blocks the records after it in the same order.",
                                AT(lanes.order)));
  table.push_back(choice<NullKeys>(
      "lanes.null_keys", order_at_start, {{"unordered", NullKeys::unordered}, {"ordered", NullKeys::ordered}},
      "With `lanes.order: key`, how records without a key run: at the same time, or one after the other.",
      AT(lanes.null_keys)));
}

void add_lane_ends(std::vector<Property>& table) {
  table.push_back(
      duration("lanes.pause_after", in_flight, Duration::zero(), hours(1),
               "How long a lane holds before it is paused: the client then stops fetching its partition.",
               AT(lanes.pause_after)));
  table.push_back(duration("lanes.drain", in_flight, Duration::zero(), hours(1),
                           "How long a rebalance or a shutdown waits for running records to finish. Must be "
                           "shorter than `max.poll.interval.ms`.",
                           AT(lanes.drain)));
  table.push_back(choice<DrainQueued>(
      "lanes.drain_queued", in_flight, {{"finish", DrainQueued::finish}, {"return", DrainQueued::give_back}},
      "What a drain does with queued records: `finish` runs as many as `lanes.drain` allows, `return` leaves "
      "them to the next owner of the partition.",
      AT(lanes.drain_queued)));
}

void add_commit(std::vector<Property>& table) {
  table.push_back(duration("commit.interval", in_flight, milliseconds(10), hours(1),
                           "How often offsets are committed. After a crash, records that finished since the "
                           "last commit run again.",
                           AT(commit.interval)));
  table.push_back(count("commit.every", in_flight, 1, 1'000'000'000,
                        "Number of finished records after which offsets are committed, even if "
                        "`commit.interval` has not passed.",
                        AT(commit.every)));
}

void add_admin(std::vector<Property>& table) {
  table.push_back(flag("admin.enabled", listener_at_start,
                       "Whether laneway serves its page, metrics, health checks and control over HTTP.",
                       AT(admin.enabled)));
  table.push_back(
      text("admin.listen", listener_at_start, "HOST:PORT or HOST:FIRST-LAST; port 0 takes a free port",
           "The address of the admin server. Of FIRST-LAST, the first port that no other program has: so "
           "several services run on one machine without a word in their files. An address that is not "
           "loopback makes metrics and status readable for everyone who can reach the address.",
           AT(admin.listen), check_listen));
  table.push_back(file_property("admin.token_file", in_flight,
                                "File with a secret token that suspend, resume, skip and reload require. "
                                "Without a token, only a loopback address accepts these requests.",
                                AT(admin.token_file), AT(admin.token), read_token));
  table.push_back(
      duration("admin.ready.stall", in_flight, seconds(1), hours(24),
               "`/readyz` reports an error when a lane with lag has made no progress for this time.",
               AT(admin.ready.stall)));
  table.push_back(flag("admin.pool_aliases", listener_at_start,
                       "Whether the metrics pool_jobs_total, pool_inflight, pool_queue_depth and "
                       "pool_duration_seconds are also served without the prefix laneway_.",
                       AT(admin.pool_aliases)));
}

void add_outputs(std::vector<Property>& table) {
  table.push_back(choice<LogLevel>("log.level", in_flight,
                                   {{"trace", LogLevel::trace},
                                    {"debug", LogLevel::debug},
                                    {"info", LogLevel::info},
                                    {"warn", LogLevel::warn},
                                    {"error", LogLevel::error}},
                                   "The lowest level of events that are logged to standard error.",
                                   AT(log.level)));
  table.push_back(
      choice<LogFormat>("log.format", opened_at_start, {{"text", LogFormat::text}, {"json", LogFormat::json}},
                        "The format of the log, one event per line: `text` is key=value.", AT(log.format)));
  table.push_back(url_property(
      "trace.otlp", exporter_at_start, "a URL that starts with http:// or https://, or \"\" for none",
      "The OpenTelemetry collector that receives spans by OTLP over HTTP, such as "
      "http://127.0.0.1:4318/v1/traces.",
      AT(trace.otlp), [](const std::string& url) { return url.empty() ? url : check_url(url); }));
  table.push_back(fraction("trace.sample", exporter_at_start,
                           "Fraction of the records that get spans. A `traceparent` header of a record "
                           "overrides the fraction for that record.",
                           AT(trace.sample)));
  table.push_back(trace_headers_property(exporter_at_start));
  table.push_back(file_property("trace.ca_file", exporter_at_start,
                                "File with the CA certificates (PEM) that verify an https:// collector. They "
                                "replace those of the system.",
                                AT(trace.ca_file), AT(trace.ca), read_certificates));
}

void add_rest(std::vector<Property>& table) {
  add_commit(table);
  add_failure_properties(table);
  table.push_back(text("journal.file", opened_at_start, "the path of a file, or \"\" for none",
                       "A file that gets one line of JSON for each attempt, for audits. laneway appends to "
                       "the file, never shortens it, and opens it again on SIGUSR1 and with each reload.",
                       AT(journal.file), [](const std::string&) { return std::string(); }));
  add_admin(table);
  add_outputs(table);
}

std::vector<Property> make_properties() {
  std::vector<Property> table;
  table.push_back(topics_property());
  table.push_back(exclude_topics_property());
  for (const HandlerSchema* handler : handlers_of_reference()) {
    auto rows = handler->properties();
    std::move(rows.begin(), rows.end(), std::back_inserter(table));
  }
  table.push_back(
      count("consumers", Reload::restart("the members join the group at the start"), 1, 256,
            "Number of consumer group members in this process. One member can serve many partitions.",
            AT(consumers)));
  table.push_back(duration("start_deadline", in_flight, milliseconds(100), hours(24),
                           "How long the start waits for the brokers and the topics. After this time laneway "
                           "exits with status 69.",
                           AT(start_deadline)));
  table.push_back(flag("allow_insecure", clients_at_start,
                       "Allows brokers whose identity is not checked, and unsecured tokens. Silences the "
                       "warnings about unencrypted connections.",
                       AT(allow_insecure)));
  add_lane_sizes(table);
  add_lane_order(table);
  add_lane_ends(table);
  add_lane_rate(table);
  add_pool_properties(table);
  add_rest(table);
  return table;
}

#undef AT

}  // namespace

const std::vector<Property>& properties() {
  static const std::vector<Property> table = make_properties();
  return table;
}

const Property* find_property(std::string_view path) {
  const auto& table = properties();
  const auto name = schema_name(path);
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const Property& p) { return p.name == name; });
  return found == table.end() ? nullptr : &*found;
}

}  // namespace laneway::config
