#include "config/schema/schema.h"

#include <algorithm>
#include <map>
#include <set>

#include "config/client/client_keys.h"
#include "config/rules/checks.h"
#include "config/schema/schema_failure.h"
#include "config/schema/schema_produce.h"
#include "config/schema/schema_statuses.h"
#include "config/yaml/json.h"
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
#define AT_HTTP(field) \
  [](auto& config) -> auto& { return std::get<HttpSettings>(config.handler).field; }
#define AT_EXEC(field) \
  [](auto& config) -> auto& { return std::get<ExecSettings>(config.handler).field; }
#define AT_PLUGIN(field) \
  [](auto& config) -> auto& { return std::get<PluginSettings>(config.handler).field; }
#define AT_SIMULATE(field) \
  [](auto& config) -> auto& { return std::get<SimulateSettings>(config.handler).field; }

const auto parse_sleep = parse_duration_within(Duration::zero(), hours(1));

std::optional<BadValue> set_sleep(SimulateSettings::Sleep& sleep, const Node& node) {
  std::optional<Duration> p50;
  std::optional<Duration> p99;
  if (node.is_scalar()) {
    const auto parsed = parse_sleep(node.text);
    if (!parsed) return BadValue{node, parsed.error().message};
    p50 = *parsed;
  } else if (!node.is_map()) {
    return BadValue{node, ""};
  }
  for (const Entry& entry : node.entries) {
    if (entry.key != "p50" && entry.key != "p99") return BadValue{key_node(entry), "this key does not exist"};
    const auto parsed = parse_sleep(entry.value.text);
    if (!parsed) return BadValue{entry.value, parsed.error().message};
    (entry.key == "p50" ? p50 : p99) = *parsed;
  }
  if (!p50 || (node.is_map() && !p99)) return BadValue{node, "p50 and p99 are both needed"};
  if (p99 && (*p50 <= Duration::zero() || *p99 < *p50)) return BadValue{node, "0 < p50 <= p99 does not hold"};
  sleep = {*p50, p99};
  return std::nullopt;
}

Property sleep_property() {
  Property property("handler.simulate.sleep", handler_at_start);
  property.expects = "a duration up to 1h, or { p50: 5ms, p99: 100ms } for log-normal ones";
  property.description = "how long an attempt sleeps";
  property.structured = true;
  property.set = [](Config& config, const Node& node) {
    return set_sleep(std::get<SimulateSettings>(config.handler).sleep, node);
  };
  property.print = [](const Config& config) {
    const auto& sleep = std::get<SimulateSettings>(config.handler).sleep;
    if (!sleep.p99) return print_duration(sleep.p50);
    return "{ p50: " + print_duration(sleep.p50) + ", p99: " + print_duration(*sleep.p99) + " }";
  };
  return property;
}

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

Property headers_property() {
  return list_property(
      "handler.http.headers", handler_at_start, "a list of names that HTTP allows",
      "record headers passed on as request headers", AT_HTTP(headers),
      [](const std::string& name) -> Result<std::string> {
        auto what = check_header(name);
        if (!what.empty()) return wrong_value(std::move(what));
        return name;
      },
      yaml_scalar, [](const auto&) { return std::string(); });
}

Property command_property() {
  auto property = list_property(
      "handler.exec.command", handler_at_start, "a list: the absolute path of a program, and its arguments",
      "the program that records are given to; there is no shell", AT_EXEC(command),
      [](const std::string& word) -> Result<std::string> {
        if (word.find('\0') != word.npos) return wrong_value("it holds a zero byte");
        return word;
      },
      yaml_scalar, check_command);
  property.example = "[/usr/bin/python3, /etc/laneway/handler.py]";
  return property;
}

/// The file is read here, so that a bad one is found by who checks the configuration.
template <class Path, class Content, class Read>
Property file_property(std::string name, Reload reload, std::string description, Path path, Content content,
                       Read read) {
  Property property = text(std::move(name), reload, "the path of a file, or \"\" for none",
                           std::move(description), path, [](const std::string&) { return std::string(); });
  property.set = [=](Config& config, const Node& node) -> std::optional<BadValue> {
    if (!node.is_scalar()) return BadValue{node, ""};
    path(config) = node.text;
    content(config).clear();
    if (node.text.empty()) return std::nullopt;
    auto found = read(node.text);
    if (!found) return BadValue{node, found.error().text()};
    content(config) = std::move(found).value();
    return std::nullopt;
  };
  property.equal = [=](const Config& a, const Config& b) {
    return path(a) == path(b) && content(a) == content(b);
  };
  return property;
}

void add_exec(std::vector<Property>& table) {
  table.push_back(command_property());
  table.push_back(choice<Framing>("handler.exec.framing", handler_at_start,
                                  {{"json", Framing::json}, {"binary", Framing::binary}},
                                  "a line of JSON, or a length and compact fields", AT_EXEC(framing)));
  table.push_back(duration("handler.exec.timeout", handler_at_start, milliseconds(1), hours(1),
                           "limit of one attempt; then the program is killed", AT_EXEC(timeout)));
}

Property hang_partitions_property() {
  return list_property(
      "handler.simulate.hang_partitions", handler_at_start, "a list of partition numbers",
      "partitions all of whose attempts hang until they are stopped", AT_SIMULATE(hang_partitions),
      [](const std::string& number) { return parse_number<std::int32_t>(number, 0, 1'000'000); },
      [](std::int32_t number) { return std::to_string(number); }, [](const auto&) { return std::string(); });
}

/// Neither printed nor shown in an error with what may be secret in it.
template <class Access, class Check>
Property url_property(std::string name, Reload reload, std::string expects, std::string description,
                      Access access, Check check) {
  Property property =
      text(std::move(name), reload, std::move(expects), std::move(description), access, check);
  property.set = [set = property.set](Config& config, const Node& node) {
    auto bad = set(config, node);
    if (bad) bad->node.text = refused_without_secrets(bad->node.text);
    return bad;
  };
  property.print = [access](const Config& config) {
    const std::string& url = access(config);
    return url.empty() ? yaml_scalar(url) : yaml_scalar(without_secrets(url));
  };
  return property;
}

Property http_url_property() {
  auto property =
      url_property("handler.http.url", handler_at_start, "a URL that starts with http:// or https://",
                   "where records are sent, by POST", AT_HTTP(url), check_url);
  property.example = "\"http://127.0.0.1:8080/orders\"";
  property.print = [print = property.print](const Config& config) {
    return std::get<HttpSettings>(config.handler).url.empty() ? std::string() : print(config);
  };
  return property;
}

Property library_property() {
  Property property =
      text("handler.plugin.library", handler_at_start, "an absolute path",
           "the shared library that does the work", AT_PLUGIN(path), [](const std::string& path) {
             return std::string(path.starts_with('/') ? "" : "it does not begin with a /");
           });
  property.example = "/usr/lib/laneway/orders.so";
  return property;
}

/// Whatever is in it, is the plugin's.
Property plugin_config_property() {
  Property property("handler.plugin.config", handler_at_start);
  property.expects = "a map of anything";
  property.description = "given to the plugin as JSON";
  property.structured = true;
  property.set = [](Config& config, const Node& node) -> std::optional<BadValue> {
    if (!node.is_map() && !node.is_null()) return BadValue{node, ""};
    auto& plugin = std::get<PluginSettings>(config.handler);
    plugin.config = node.is_null() ? "{}" : json_of(node);
    plugin.shown_config = node.is_null() ? "{}" : shown_yaml(node);
    return std::nullopt;
  };
  property.print = [](const Config& config) { return std::get<PluginSettings>(config.handler).shown_config; };
  property.equal = [](const Config& a, const Config& b) {
    return std::get<PluginSettings>(a.handler).config == std::get<PluginSettings>(b.handler).config;
  };
  return property;
}

void add_handlers(std::vector<Property>& table) {
  table.push_back(http_url_property());
  table.push_back(duration("handler.http.timeout", handler_at_start, milliseconds(1), hours(1),
                           "limit of one attempt", AT_HTTP(timeout)));
  table.push_back(text("handler.http.content_type", handler_at_start, "a media type",
                       "Content-Type of the requests", AT_HTTP(content_type), check_content_type));
  table.push_back(headers_property());
  table.push_back(duration("handler.http.max_retry_after", handler_at_start, Duration::zero(), hours(1),
                           "longest Retry-After that is honoured", AT_HTTP(max_retry_after)));
  table.push_back(statuses_property());
  table.push_back(file_property("handler.http.authorization_file", handler_at_start,
                                "holds the header Authorization of the requests, such as Bearer and a token",
                                AT_HTTP(authorization_file), AT_HTTP(authorization), read_header_value));
  table.push_back(file_property("handler.http.ca_file", handler_at_start,
                                "the CA certificates (PEM) that an https:// web service is checked by, "
                                "instead of the system's",
                                AT_HTTP(ca_file), AT_HTTP(ca), read_certificates));
  table.push_back(count("handler.http.connections", handler_at_start, 1, 65536,
                        "requests at the server at once, at most", AT_HTTP(connections)));
  table.push_back(count("handler.http.batch.records", handler_at_start, 0, 10000,
                        "records of one request, at most; 0: each value is a request",
                        AT_HTTP(batch.records)));
  table.push_back(duration("handler.http.batch.linger", handler_at_start, Duration::zero(), seconds(60),
                           "how long the first record of a request waits for others", AT_HTTP(batch.linger)));
  table.push_back(size("handler.http.batch.bytes", handler_at_start, 1, 1ULL << 30,
                       "a request of this size takes no more records", AT_HTTP(batch.bytes)));
  table.push_back(choice<BatchFormat>("handler.http.batch.format", handler_at_start,
                                      {{"json", BatchFormat::json}, {"ndjson", BatchFormat::ndjson}},
                                      "an array, or a line for each record", AT_HTTP(batch.format)));
  add_exec(table);
  table.push_back(sleep_property());
  table.push_back(duration("handler.simulate.spin", handler_at_start, Duration::zero(), hours(1),
                           "processor time used besides", AT_SIMULATE(spin)));
  table.push_back(fraction("handler.simulate.fail", handler_at_start,
                           "fraction of the attempts that are answered retry", AT_SIMULATE(fail)));
  table.push_back(fraction("handler.simulate.hang", handler_at_start,
                           "fraction of the attempts that hang until they are stopped", AT_SIMULATE(hang)));
  table.push_back(hang_partitions_property());
  table.push_back(duration("handler.simulate.timeout", handler_at_start, milliseconds(1), hours(1),
                           "limit of one attempt", AT_SIMULATE(timeout)));
  table.push_back(library_property());
  table.push_back(duration("handler.plugin.timeout", handler_at_start, milliseconds(1), hours(24),
                           "limit of one attempt", AT_PLUGIN(timeout)));
  table.push_back(plugin_config_property());
  add_produce(table);
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

#undef AT_SIMULATE
#undef AT_HTTP
#undef AT_EXEC

std::vector<Property> make_properties() {
  std::vector<Property> table;
  table.push_back(topics_property());
  add_handlers(table);
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

const std::vector<std::string>& handler_names() {
  static const std::vector<std::string> names = {"log",    "simulate", "http", "exec",
                                                 "plugin", "produce"};  // in the order of the variant
  return names;
}

std::optional<HandlerSettings> default_handler_settings(std::string_view name) {
  if (name == "log") return LogSettings{};
  if (name == "simulate") return SimulateSettings{};
  if (name == "http") return HttpSettings{};
  if (name == "exec") return ExecSettings{};
  if (name == "plugin") return PluginSettings{};
  if (name == "produce") return ProduceSettings{};
  return std::nullopt;
}

const std::string& handler_name(const Config& config) { return handler_names()[config.handler.index()]; }

}  // namespace laneway::config
