#include "config/schema/schema.h"

#include <algorithm>
#include <iterator>

#include "config/handlers/handlers.h"
#include "config/rules/checks.h"
#include "config/schema/schema_failure.h"
#include "config/yaml/read_file.h"

namespace laneway::config {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

constexpr Reload order_at_work = Reload::restart("records at work follow the old order");
constexpr Reload listener_at_start = Reload::restart("the admin server listens from the start on");
constexpr Reload opened_at_start = Reload::restart("it is opened at the start");
constexpr Reload exporter_at_start = Reload::restart("the exporter of spans is made at the start");

/// A generic lambda from a Config to one of its fields, for the table below.
#define AT(field) \
  [](auto& config) -> auto& { return config.field; }
Property topics_property() {
  auto property = list_property(
      "topics", Reload::restart("the group's members have subscribed to the old ones"),
      "a list of topic names, or one pattern that starts with ^", "what is consumed", AT(topics),
      [](const std::string& topic) -> Result<std::string> {
        auto what = check_topic(topic);
        if (!what.empty()) return wrong_value(std::move(what));
        return topic;
      },
      yaml_scalar, check_topics);
  property.example = "[orders]";
  return property;
}

void add_lanes(std::vector<Property>& table) {
  table.push_back(count("lanes.workers", in_flight, 1, 4096, "records of one partition at work, at most",
                        AT(lanes.workers)));
  table.push_back(
      count("lanes.queue", in_flight, 0, 1'000'000, "records waiting beyond those", AT(lanes.queue)));
  table.push_back(choice<Order>(
      "lanes.order", order_at_work,
      {{"none", Order::none}, {"key", Order::key}, {"partition", Order::partition}},
      "records that run one after the other: none, those of a key, those of a partition", AT(lanes.order)));
  table.push_back(choice<NullKeys>(
      "lanes.null_keys", order_at_work, {{"unordered", NullKeys::unordered}, {"ordered", NullKeys::ordered}},
      "records without a key, where the order is by key: free, or all in one order", AT(lanes.null_keys)));
  table.push_back(size("lanes.memory", Reload::restart("the client's buffers are fixed at the start"),
                       1ULL << 20, 1ULL << 40, "all fetched and queued records of the process",
                       AT(lanes.memory)));
  table.push_back(duration("lanes.pause_after", in_flight, Duration::zero(), hours(1),
                           "a hold this long becomes a pause at the client", AT(lanes.pause_after)));
  table.push_back(duration("lanes.drain", in_flight, Duration::zero(), hours(1),
                           "a rebalance or a shutdown waits this long for records at work", AT(lanes.drain)));
  table.push_back(choice<DrainQueued>(
      "lanes.drain_queued", in_flight, {{"finish", DrainQueued::finish}, {"return", DrainQueued::give_back}},
      "queued records in a drain: finish what fits, or return all that has not started",
      AT(lanes.drain_queued)));
  table.push_back(count("lanes.max_incomplete", in_flight, 1, 10'000'000,
                        "records from the oldest incomplete to the newest taken; beyond, the lane holds",
                        AT(lanes.max_incomplete)));
  add_lane_rate(table);
}

void add_rest(std::vector<Property>& table) {
  table.push_back(duration("commit.interval", in_flight, milliseconds(10), hours(1),
                           "offsets are committed this often", AT(commit.interval)));
  table.push_back(count("commit.every", in_flight, 1, 1'000'000'000,
                        "or after so many processed records, whichever is first", AT(commit.every)));
  add_failure_properties(table);
  table.push_back(text("journal.file", opened_at_start, "the path of a file, or \"\" for none",
                       "a line for every attempt, for audits", AT(journal.file),
                       [](const std::string&) { return std::string(); }));
  table.push_back(flag("admin.enabled", listener_at_start, "metrics, health and control are served over HTTP",
                       AT(admin.enabled)));
  table.push_back(text("admin.listen", listener_at_start, "host:port, port 0 for a free one",
                       "where they are served", AT(admin.listen), check_listen));
  table.push_back(file_property("admin.token_file", in_flight,
                                "a secret that whoever pauses, resumes, skips or reloads has to know",
                                AT(admin.token_file), AT(admin.token), read_token));
  table.push_back(duration("admin.ready.stall", in_flight, seconds(1), hours(24),
                           "a lane with lag that makes no progress for so long is not ready",
                           AT(admin.ready.stall)));
  table.push_back(flag("admin.pool_aliases", listener_at_start,
                       "pool_jobs_total, pool_inflight, pool_queue_depth and pool_duration_seconds are also "
                       "served without laneway_",
                       AT(admin.pool_aliases)));
  table.push_back(choice<LogLevel>("log.level", in_flight,
                                   {{"trace", LogLevel::trace},
                                    {"debug", LogLevel::debug},
                                    {"info", LogLevel::info},
                                    {"warn", LogLevel::warn},
                                    {"error", LogLevel::error}},
                                   "what is logged to standard error", AT(log.level)));
  table.push_back(choice<LogFormat>("log.format", opened_at_start,
                                    {{"text", LogFormat::text}, {"json", LogFormat::json}},
                                    "key=value or JSON, one line an event", AT(log.format)));
  table.push_back(url_property(
      "trace.otlp", exporter_at_start, "a URL that starts with http:// or https://, or \"\" for none",
      "a collector of OpenTelemetry that takes spans, such as http://127.0.0.1:4318/v1/traces",
      AT(trace.otlp), [](const std::string& url) { return url.empty() ? url : check_url(url); }));
  table.push_back(fraction("trace.sample", exporter_at_start,
                           "fraction of the records with spans, where their traceparent does not say",
                           AT(trace.sample)));
}

std::vector<Property> make_properties() {
  std::vector<Property> table;
  table.push_back(topics_property());
  for (const HandlerSchema* handler : handlers_of_reference()) {
    auto rows = handler->properties();
    std::move(rows.begin(), rows.end(), std::back_inserter(table));
  }
  table.push_back(count("consumers", Reload::restart("the group's members join at the start"), 1, 256,
                        "group members in this process", AT(consumers)));
  table.push_back(duration("start_deadline", in_flight, milliseconds(100), hours(24),
                           "brokers and topics have answered by then, or laneway exits with 69",
                           AT(start_deadline)));
  table.push_back(flag("allow_insecure", clients_at_start,
                       "permits brokers whose identity is not checked and unsecured tokens",
                       AT(allow_insecure)));
  add_lanes(table);
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
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const Property& p) { return p.name == path; });
  return found == table.end() ? nullptr : &*found;
}

}  // namespace laneway::config
