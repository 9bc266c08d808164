#include "config/rules/rules.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "config/checks/checks.h"
#include "config/checks/connection_rules.h"
#include "config/checks/rule_context.h"
#include "config/client/group_protocol.h"
#include "config/handlers/handlers.h"
#include "config/pools/parking.h"
#include "config/pools/pool_scope.h"
#include "config/rules/pool_rules.h"
#include "config/text.h"
#include "config/units.h"

namespace laneway::config {
namespace {

class Rules {
 public:
  explicit Rules(RuleContext& context) : context_(context), config_(context.config()) {}

  void check() {
    require();
    check_own_keys();
    check_dead_letters();
    check_retry_topics();
    check_parking();
    check_times();
    check_membership();
    check_assignment();
    check_connections();
  }

 private:
  void require() {
    context_.require("kafka.bootstrap.servers", "the brokers to connect to first, such as 127.0.0.1:9092");
    context_.require("kafka.group.id",
                     "the name of the consumer group, which all instances of a service share");
    context_.require("topics", "the topics to consume, such as [orders]");
    const std::string work = "the work for each record: one of " + join(handler_names(), ", ");
    if (shows_handler(config_))
      context_.require_handler(work + missing_in_pools());
    else if (context_.given_handler())
      context_.refuse_handler("each pool has a handler of its own, so this handler does nothing",
                              "remove it, or the handler of a pool");
  }

  /// The end of the hint, if there are pools.
  std::string missing_in_pools() const {
    std::vector<std::string> without;
    for (const PoolSettings& pool : config_.pools)
      if (!pool.handler) without.push_back(pool.scope() + "handler");
    if (without.empty()) return "";
    return "; it is the work of all pools without their own (" + join(without, ", ") + ")";
  }

  void check_own_keys() {
    if (config_.retry.backoff > config_.retry.max_backoff)
      context_.refuse({"retry.backoff", "retry.max_backoff"},
                      "retry.backoff is " + print_duration(config_.retry.backoff) +
                          ", more than retry.max_backoff, " + print_duration(config_.retry.max_backoff),
                      "lower retry.backoff, or raise retry.max_backoff");
    if (!config_.exclude_topics.empty() && !config_.topics.empty() && !config_.topics_by_pattern())
      context_.refuse({"exclude_topics", "topics"},
                      "exclude_topics has no effect, because topics is no pattern",
                      "remove exclude_topics, or set topics to a pattern such as ^orders");
    if (config_.lanes.null_keys == NullKeys::ordered && config_.lanes.order != Order::key)
      context_.refuse({"lanes.null_keys", "lanes.order"}, "null_keys has no effect unless lanes.order is key",
                      "set lanes.order: key, or remove null_keys");
  }

  void check_dead_letters() {
    if (config_.ledger.policy == LedgerPolicy::dead_letter && !config_.dead_letter.enabled())
      context_.refuse({"ledger.policy"}, "this policy needs a dead-letter topic",
                      "set dead_letter.topic, such as \"{topic}-dlt\"");
    if (!config_.dead_letter.enabled() || config_.topics_by_pattern()) return;
    for (const std::string& topic : config_.topics) {
      const auto name = topic_from_template(config_.dead_letter.topic, topic);
      if (std::find(config_.topics.begin(), config_.topics.end(), name) == config_.topics.end()) continue;
      context_.refuse({"dead_letter.topic", "topics"},
                      "the dead letters of " + topic + " would go to " + name + ", which is consumed too",
                      "choose another name, such as \"{topic}-dlt\"");
      return;
    }
  }

  void check_retry_topics() {
    if (config_.retry.topics.empty()) return;
    if (config_.lanes.order != Order::none)
      context_.refuse(
          {"retry.topics", "lanes.order"},
          std::string("with lanes.order: ") + (config_.lanes.order == Order::key ? "key" : "partition") +
              " retry topics would break the order: later records overtake a record that is in a retry topic",
          "set lanes.order: none, or remove retry.topics: a failed record then waits in its lane");
    if (!config_.dead_letter.enabled() && !context_.concern("dead_letter.topic"))
      context_.refuse({"retry.topics"},
                      "a record that fails after the last retry topic needs a dead-letter topic",
                      "set dead_letter.topic, such as \"{topic}-dlt\"");
    if (config_.topics_by_pattern())
      context_.refuse(
          {"retry.topics", "topics"},
          "topics is a pattern, so the retry topics of the topics that it matches are not known at the start",
          "list the topics by their names");
    const auto reset = context_.client("auto.offset.reset");
    if (!reset.empty() && reset != "earliest" && reset != "smallest" && reset != "beginning")
      context_.refuse({"kafka.auto.offset.reset", "retry.topics"},
                      "with this value, records that are written to a retry topic before its first commit "
                      "would be skipped",
                      "set auto.offset.reset: earliest");
    check_retry_names();
  }

  /// The default does nothing where it cannot; who writes the key must learn that.
  void check_parking() {
    const auto after = config_.lanes.park_after;
    if (after == LaneSettings().park_after || after == Duration::zero()) return;
    if (const auto why = not_parked_because(config_); !why.empty())
      context_.refuse({"lanes.park_after"}, "this key has no effect: " + why,
                      "remove lanes.park_after, or set it to 0s");
  }

  void check_retry_names() {
    if (config_.topics_by_pattern()) return;
    const auto& topics = config_.topics;
    for (const auto& topic : topics) {
      const auto letters = topic_from_template(config_.dead_letter.topic, topic);
      for (const auto& delay : config_.retry.topics) {
        const auto name = delay.topic_of(topic);
        if (std::find(topics.begin(), topics.end(), name) != topics.end())
          return context_.refuse({"retry.topics", "topics"},
                                 "the retry topic " + name + " of " + topic + " is consumed too",
                                 "choose another delay, or remove the topic from topics");
        if (name == letters)
          return context_.refuse({"dead_letter.topic", "retry.topics"},
                                 "the dead letters of " + topic + " would go to its retry topic " + name,
                                 "choose another name, such as \"{topic}-dlt\"");
        if (const auto what = check_topic(name); !what.empty())
          return context_.refuse({"retry.topics", "topics"},
                                 "the retry topic " + name + " is not possible: " + what,
                                 "choose a shorter name");
      }
    }
  }

  /// The value of a client key in ms; `otherwise`, the library's default, if the key is not set.
  std::int64_t milliseconds_of(const std::string& key, std::int64_t otherwise) const {
    const std::string& text = config_.client(key);
    std::int64_t value = otherwise;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  }

  void check_times() {
    const auto poll = milliseconds_of("max.poll.interval.ms", 300000);
    const auto session = milliseconds_of("session.timeout.ms", 45000);
    const auto heartbeat = milliseconds_of("heartbeat.interval.ms", 3000);
    const bool by_brokers =
        group_protocol(config_.kafka).by_brokers.has_value();  // they decide about sessions
    if (!by_brokers && poll < session)
      context_.refuse({"kafka.max.poll.interval.ms", "kafka.session.timeout.ms"},
                      "max.poll.interval.ms is " + std::to_string(poll) + ", less than session.timeout.ms, " +
                          std::to_string(session),
                      "the session time-out may be at most as long as max.poll.interval.ms");
    if (!by_brokers && heartbeat >= session)
      context_.refuse({"kafka.heartbeat.interval.ms", "kafka.session.timeout.ms"},
                      "heartbeat.interval.ms is " + std::to_string(heartbeat) +
                          ", not less than session.timeout.ms, " + std::to_string(session),
                      "set heartbeat.interval.ms to a third of the session time-out or less");
    if (config_.lanes.drain >= milliseconds(poll))
      context_.refuse({"lanes.drain", "kafka.max.poll.interval.ms"},
                      "lanes.drain is " + print_duration(config_.lanes.drain) +
                          ", not less than max.poll.interval.ms, " + print_duration(milliseconds(poll)) +
                          ": the group would remove this member during a drain",
                      "set a shorter lanes.drain, or a longer max.poll.interval.ms");
    if (milliseconds_of("reconnect.backoff.ms", 100) > milliseconds_of("reconnect.backoff.max.ms", 10000))
      context_.refuse({"kafka.reconnect.backoff.ms", "kafka.reconnect.backoff.max.ms"},
                      "reconnect.backoff.ms is more than reconnect.backoff.max.ms",
                      "lower the first, or raise the second");
  }

  void check_membership() {
    const auto& asked = group_protocol(config_.kafka);
    for (const auto& other : group_protocols())
      if (other.by_brokers && &other != &asked)
        context_.refuse({std::string("kafka.") + other.by_brokers->assignor_key},
                        "this key has no effect without " + other.setting(),
                        "set " + other.setting() + ", or remove this key");
    if (!asked.by_brokers) return;
    const std::string decided = "with kafka." + asked.setting() + " the brokers decide this";
    for (const std::string key : {"session.timeout.ms", "heartbeat.interval.ms"})
      context_.refuse({"kafka." + key}, decided,
                      "remove this key; for the group, kafka-configs.sh --entity-type groups can set " +
                          std::string(asked.value) + "." + key);
    context_.refuse({"kafka.partition.assignment.strategy"}, decided,
                    std::string("remove this key; kafka.") + asked.by_brokers->assignor_key + " chooses " +
                        asked.by_brokers->assignors);
  }

  void check_assignment() {
    if (!context_.given("kafka.partition.assignment.strategy")) return;
    const auto names = split(config_.client("partition.assignment.strategy"), ",");
    const auto is_cooperative = [](const std::string& name) { return name == "cooperative-sticky"; };
    const bool known = std::all_of(names.begin(), names.end(), [&](const std::string& name) {
      return name == "range" || name == "roundrobin" || is_cooperative(name);
    });
    if (!known)
      context_.refuse(
          {"kafka.partition.assignment.strategy"},
          "found " + in_quotes(config_.client("partition.assignment.strategy")),
          "expected range, roundrobin (separated by a comma without a space), or cooperative-sticky");
    if (names.size() > 1 && std::any_of(names.begin(), names.end(), is_cooperative))
      context_.refuse({"kafka.partition.assignment.strategy"},
                      "cooperative-sticky cannot be combined with another strategy",
                      "set cooperative-sticky alone, or remove it");
  }

  void check_connections() {
    for (const auto& problem : context_.new_connection_problems(config_.kafka, config_.kafka)) {
      std::vector<std::string> keys;
      for (const auto& key : problem.keys) keys.push_back("kafka." + key);
      context_.refuse(keys, (problem.missing.empty() ? "" : "kafka.") + problem.what, problem.hint);
    }
  }

  RuleContext& context_;
  const Config& config_;
};

void check_handler(const HandlerSettings& handler, RuleContext& context) {
  const auto check = handler_of(handler).check;
  if (check != nullptr && context.given_handler()) check(handler, context);
}

/// A warning if the headers of the collector leave the machine unencrypted. It names no header.
std::optional<std::string> unencrypted_headers(const Trace& trace) {
  if (trace.headers.empty() || !lower(trace.otlp).starts_with("http://") || is_loopback(trace.otlp))
    return std::nullopt;
  return "the headers for the collector (trace.headers, OTEL_EXPORTER_OTLP_HEADERS) travel unencrypted to "
         "another machine, with the spans (use an https:// address in trace.otlp, or set allow_insecure: "
         "true if this is intended)";
}

}  // namespace

void check_rules(const Config& config, const Settings& settings, const Expected& expected,
                 Problems& problems) {
  RuleContext context(config, config.unnamed, settings, expected, problems);
  Rules(context).check();
  check_handler(config.handler, context);
  check_pool_rules(context);
  for (const PoolSettings& pool : config.pools) {
    RuleContext of_pool(config, pool, settings, expected, problems);
    if (pool.handler) check_handler(*pool.handler, of_pool);
  }
}

std::vector<std::string> warnings_about(const Config& config) {
  auto warnings = warnings_about_pools(config);
  if (config.allow_insecure) return warnings;
  if (auto warning = unencrypted(config.kafka, "kafka.security.protocol"))
    warnings.push_back(std::move(*warning));
  if (auto warning = unencrypted_headers(config.trace)) warnings.push_back(std::move(*warning));
  for (const PoolSettings& pool : stages_of(config)) {
    const auto& handler = config.handler_of(pool);
    const auto about_handler = handler_of(handler).warnings;
    if (about_handler == nullptr) continue;
    for (auto& warning : about_handler(handler, config))
      if (std::find(warnings.begin(), warnings.end(), warning) == warnings.end())
        warnings.push_back(std::move(warning));
  }
  return warnings;
}

}  // namespace laneway::config
