#include "config/rules/rules.h"

#include <algorithm>
#include <charconv>

#include "config/client/client_keys.h"
#include "config/rules/broker_pattern.h"
#include "config/rules/checks.h"
#include "config/rules/connection_rules.h"
#include "config/rules/retry_topics.h"
#include "config/schema/schema.h"
#include "config/schema/schema_produce.h"
#include "config/text.h"
#include "config/units.h"

namespace laneway::config {
namespace {

class Rules {
 public:
  Rules(const Config& config, const Settings& settings, const Expected& expected, Problems& problems)
      : config_(config), settings_(settings), expected_(expected), problems_(problems) {}

  void check() {
    require();
    check_http();
    check_produce();
    check_own_keys();
    check_dead_letters();
    check_retry_topics();
    check_times();
    check_membership();
    check_assignment();
    check_connections();
  }

 private:
  bool given(const std::string& key) const { return settings_.contains(key); }
  std::string client(const std::string& key) const { return lower(config_.client(key)); }

  /// At the first of the keys that was given, unless one of them is wrong by itself.
  void refuse(const std::vector<std::string>& keys, const std::string& what, const std::string& hint) {
    if (std::any_of(keys.begin(), keys.end(), [&](const auto& key) { return problems_.concern(key); }))
      return;
    for (const std::string& key : keys) {
      const auto found = settings_.find(key);
      if (found == settings_.end()) continue;
      problems_.add(found->second.place, key, what, hint);
      return;
    }
  }

  void require(const std::string& key, const std::string& hint) {
    if (!given(key) && !problems_.concern(key))
      problems_.add(expected_.file, key, "this key is missing", hint);
  }

  void require() {
    require("kafka.bootstrap.servers", "brokers to begin with, such as 127.0.0.1:9092");
    require("kafka.group.id", "the consumer group that instances share");
    require("topics", "what is consumed, such as [orders]");
    const auto handler = std::find_if(settings_.begin(), settings_.end(), [](const auto& item) {
      return item.first == "handler" || item.first.starts_with("handler.");
    });
    if (expected_.own_handler) {
      if (handler != settings_.end())
        problems_.add(handler->second.place, handler->first, "this program does the work itself",
                      "remove it");
      return;
    }
    if (handler == settings_.end())
      require("handler", "what records are given to: one of " + join(handler_names(), ", "));
    const auto* http = std::get_if<HttpSettings>(&config_.handler);
    if (http != nullptr && http->url.empty())
      require_of_handler("handler.http", "url",
                         "where records are sent, such as http://127.0.0.1:8080/orders");
    const auto* exec = std::get_if<ExecSettings>(&config_.handler);
    if (exec != nullptr && exec->command.empty())
      require_of_handler("handler.exec", "command",
                         "a program and its arguments, such as [/opt/orders/handle, --fast]");
    const auto* plugin = std::get_if<PluginSettings>(&config_.handler);
    if (plugin != nullptr && plugin->path.empty())
      require_of_handler("handler.plugin", "library", "the absolute path of the plugin's shared library");
  }

  /// Said where the handler was chosen.
  void require_of_handler(const std::string& section, const std::string& name, const std::string& hint) {
    const auto key = section + "." + name;
    if (problems_.concern(key)) return;
    const auto first = std::find_if(settings_.begin(), settings_.end(), [&](const auto& item) {
      return item.first == "handler" || item.first.starts_with(section);
    });
    problems_.add(first->second.place, key, "this key is missing", hint);
  }

  /// Two of the same header would be sent, and the web service would take either.
  void check_http() {
    const auto* http = std::get_if<HttpSettings>(&config_.handler);
    if (http == nullptr || http->authorization.empty()) return;
    const std::string key = "handler.http.authorization_file";
    if (std::any_of(http->headers.begin(), http->headers.end(),
                    [](const auto& name) { return lower(name) == "authorization"; }))
      refuse({key}, "handler.http.headers passes on the records' own header Authorization", "one of the two");
    if (has_login(http->url))
      refuse({key}, "handler.http.url has a user, which is sent in the same header", "one of the two");
  }

  void check_produce() {
    const auto* produce = std::get_if<ProduceSettings>(&config_.handler);
    if (produce == nullptr) return;
    const bool named = !produce->topic_header.empty() || !produce->topic_field.empty();
    if (produce->topic.empty() && !named)
      require_of_handler("handler.produce", "topic", "where records are written, such as \"{topic}-out\"");
    if (!produce->topic_header.empty() && !produce->topic_field.empty())
      refuse({"handler.produce.topic_field"}, "topic_header names the topic", "one of the two");
    if (named && produce->topics.empty())
      refuse({"handler.produce.topic_header", "handler.produce.topic_field"},
             "whoever writes a record could name any topic in it: topics is empty",
             "handler.produce.topics: the topics that it may name");
    if (!named && !produce->topics.empty())
      refuse({"handler.produce.topics"}, "this has no effect without topic_header or topic_field",
             "one of them, or remove it");
    check_produced_key(*produce);
    if (!produce->keep_headers && !produce->rename_headers.empty())
      refuse({"handler.produce.rename_headers"}, "with headers: none none is written",
             "remove one of the two");
    if (const auto topic = looping_topic(config_, *produce); !topic.empty())
      refuse({"handler.produce.topic", "handler.produce.topics"},
             in_quotes(topic) + " is one of topics as well: its records would go round for ever",
             "another topic");
    if (produce->transactional) check_transactions(*produce);
  }

  void check_produced_key(const ProduceSettings& produce) {
    const bool by_header = !produce.key_header.empty();
    const bool by_field = !produce.key_field.empty();
    if (by_header && by_field)
      refuse({"handler.produce.key_field"}, "key_header is the key", "one of the two");
    if ((by_header || by_field) && !produce.keep_key)
      refuse({"handler.produce.key"}, "none is written without a key, and key_header or key_field is one",
             "remove one of the two");
  }

  void check_transactions(const ProduceSettings& produce) {
    const std::string key = "handler.produce.transactional";
    if (config_.consumers > 1)
      refuse({"consumers", key}, "with transactional a process has one group member and one transaction",
             "consumers: 1, and more processes");
    if (produce.other_cluster())
      refuse({"handler.produce.kafka", key},
             "a transaction is of one cluster: offsets and records cannot be committed together",
             "transactional: false, or write to the cluster that is read");
    if (client("isolation.level") == "read_uncommitted")
      refuse({"kafka.isolation.level", key},
             "with transactional, records of transactions that may fail must not be read",
             "isolation.level: read_committed");
  }

  void check_own_keys() {
    const auto& lanes = config_.lanes;
    if (config_.retry.backoff > config_.retry.max_backoff)
      refuse({"retry.backoff", "retry.max_backoff"},
             "retry.backoff is " + print_duration(config_.retry.backoff) + ", more than retry.max_backoff, " +
                 print_duration(config_.retry.max_backoff),
             "a backoff up to max_backoff");
    if (lanes.max_incomplete < lanes.workers)
      refuse({"lanes.max_incomplete", "lanes.workers"},
             "lanes.max_incomplete is " + std::to_string(lanes.max_incomplete) +
                 ", less than lanes.workers, " + std::to_string(lanes.workers) +
                 ", so some workers would never work",
             "at least as many as workers");
    if (lanes.null_keys == NullKeys::ordered && lanes.order != Order::key)
      refuse({"lanes.null_keys", "lanes.order"}, "null_keys has no effect unless lanes.order is key",
             "lanes.order: key, or remove it");
  }

  void check_dead_letters() {
    if (config_.ledger.policy == LedgerPolicy::dead_letter && !config_.dead_letter.enabled())
      refuse({"ledger.policy"}, "there is no dead-letter topic to which records could go",
             "dead_letter.topic");
    if (!config_.dead_letter.enabled() || config_.topics_by_pattern()) return;
    for (const std::string& topic : config_.topics) {
      const auto name = topic_from_template(config_.dead_letter.topic, topic);
      if (std::find(config_.topics.begin(), config_.topics.end(), name) == config_.topics.end()) continue;
      refuse({"dead_letter.topic", "topics"},
             "the dead letters of " + topic + " would go to " + name + ", which is consumed itself",
             "another name, such as \"{topic}-dlt\"");
      return;
    }
  }

  void check_retry_topics() {
    if (config_.retry.topics.empty()) return;
    if (config_.lanes.order != Order::none)
      refuse({"retry.topics", "lanes.order"},
             std::string("with lanes.order: ") + (config_.lanes.order == Order::key ? "key" : "partition") +
                 " retry topics would break the order: later records overtake one that is in a retry topic",
             "lanes.order: none, or no retry topics: a failed record then waits in its lane");
    if (!config_.dead_letter.enabled() && !problems_.concern("dead_letter.topic"))
      refuse({"retry.topics"}, "a record that fails in the last retry topic has nowhere to go",
             "dead_letter.topic, such as \"{topic}-dlt\"");
    if (config_.topics_by_pattern())
      refuse({"retry.topics", "topics"},
             "topics is a pattern: what it will match, and so the retry topics, are not known at the start",
             "the topics by their names");
    const auto reset = client("auto.offset.reset");
    if (!reset.empty() && reset != "earliest" && reset != "smallest" && reset != "beginning")
      refuse({"kafka.auto.offset.reset", "retry.topics"},
             "with retry topics, what was written to one before its first commit would be skipped",
             "auto.offset.reset: earliest");
    check_retry_names();
  }

  void check_retry_names() {
    if (config_.topics_by_pattern()) return;
    const auto& topics = config_.topics;
    for (const auto& topic : topics) {
      const auto letters = topic_from_template(config_.dead_letter.topic, topic);
      for (const auto& delay : config_.retry.topics) {
        const auto name = retry_topic(topic, delay);
        if (std::find(topics.begin(), topics.end(), name) != topics.end())
          return refuse({"retry.topics", "topics"},
                        "the retry topic " + name + " of " + topic + " is one of topics as well",
                        "another delay, or leave it out of topics");
        if (name == letters)
          return refuse({"dead_letter.topic", "retry.topics"},
                        "the dead letters of " + topic + " would go to its retry topic " + name,
                        "another name, such as \"{topic}-dlt\"");
        if (const auto what = check_topic(name); !what.empty())
          return refuse({"retry.topics", "topics"}, "the retry topic " + name + " cannot be: " + what,
                        "a shorter name");
      }
    }
  }

  /// The client's value in ms, or the library's default.
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
    const bool by_brokers = client("group.protocol") == "consumer";  // then they decide about sessions
    if (!by_brokers && poll < session)
      refuse({"kafka.max.poll.interval.ms", "kafka.session.timeout.ms"},
             "max.poll.interval.ms is " + std::to_string(poll) + ", less than session.timeout.ms, " +
                 std::to_string(session),
             "the session time-out at most as long");
    if (!by_brokers && heartbeat >= session)
      refuse({"kafka.heartbeat.interval.ms", "kafka.session.timeout.ms"},
             "heartbeat.interval.ms is " + std::to_string(heartbeat) +
                 ", not less than session.timeout.ms, " + std::to_string(session),
             "a third of the session time-out or less");
    if (config_.lanes.drain >= milliseconds(poll))
      refuse({"lanes.drain", "kafka.max.poll.interval.ms"},
             "lanes.drain is " + print_duration(config_.lanes.drain) +
                 ", not less than max.poll.interval.ms, " + print_duration(milliseconds(poll)) +
                 ": the group would throw this member out while it drains",
             "a shorter drain or a longer interval");
    if (milliseconds_of("reconnect.backoff.ms", 100) > milliseconds_of("reconnect.backoff.max.ms", 10000))
      refuse({"kafka.reconnect.backoff.ms", "kafka.reconnect.backoff.max.ms"},
             "reconnect.backoff.ms is more than reconnect.backoff.max.ms", "the other way round");
  }

  /// Under group.protocol: consumer the brokers decide what these keys say under the classic one.
  void check_membership() {
    const bool by_brokers = client("group.protocol") == "consumer";
    if (!by_brokers)
      return refuse_if_given("kafka.group.remote.assignor",
                             "this has no effect without group.protocol: consumer",
                             "group.protocol: consumer, or remove it");
    const std::string of_group = "remove it; for this group kafka-configs.sh --entity-type groups can set ";
    refuse_if_given("kafka.session.timeout.ms", "kafka.group.protocol: consumer leaves this to the brokers",
                    of_group + "consumer.session.timeout.ms");
    refuse_if_given("kafka.heartbeat.interval.ms",
                    "kafka.group.protocol: consumer leaves this to the brokers",
                    of_group + "consumer.heartbeat.interval.ms");
    refuse_if_given("kafka.partition.assignment.strategy",
                    "kafka.group.protocol: consumer leaves this to the brokers",
                    "remove it; kafka.group.remote.assignor chooses uniform or range");
    if (config_.topics_by_pattern())
      if (const auto what = check_broker_pattern(config_.topics.front()); !what.empty())
        refuse({"topics", "kafka.group.protocol"},
               "with kafka.group.protocol: consumer the brokers match the pattern, and " + what,
               "brackets, groups and simple repetitions, such as [0-9]+, or group.protocol: classic");
  }

  void refuse_if_given(const std::string& key, const std::string& what, const std::string& hint) {
    if (given(key)) refuse({key}, what, hint);
  }

  void check_assignment() {
    if (!given("kafka.partition.assignment.strategy")) return;
    const auto names = split(config_.client("partition.assignment.strategy"), ",");
    const auto is_cooperative = [](const std::string& name) { return name == "cooperative-sticky"; };
    const bool known = std::all_of(names.begin(), names.end(), [&](const std::string& name) {
      return name == "range" || name == "roundrobin" || is_cooperative(name);
    });
    if (!known)
      refuse({"kafka.partition.assignment.strategy"},
             "found " + in_quotes(config_.client("partition.assignment.strategy")),
             "expected range, roundrobin (separated by a comma without a space), or cooperative-sticky");
    if (names.size() > 1 && std::any_of(names.begin(), names.end(), is_cooperative))
      refuse({"kafka.partition.assignment.strategy"}, "cooperative-sticky stands beside another strategy",
             "cooperative-sticky alone, or without it");
  }

  /// The key is there, and wrong.
  bool known(const ConnectionProblem& problem) const {
    return !problem.missing.empty() && problems_.concern("kafka." + problem.missing);
  }

  /// How brokers are reached: by `kafka`, and by what `handler.produce.kafka` makes of it.
  void check_connections() {
    const bool insecure = config_.allow_insecure || problems_.concern("allow_insecure");
    for (const auto& problem : connection_problems({config_.kafka, config_.kafka, insecure})) {
      if (known(problem)) continue;
      std::vector<std::string> keys;
      for (const auto& key : problem.keys) keys.push_back("kafka." + key);
      refuse(keys, (problem.missing.empty() ? "" : "kafka.") + problem.what, problem.hint);
    }
    const auto* produce = std::get_if<ProduceSettings>(&config_.handler);
    if (produce == nullptr || produce->client.empty()) return;
    const auto all = client_of_producer(config_.kafka, produce->client);
    for (const auto& problem : connection_problems({all, produce->client, insecure})) {
      if (known(problem)) continue;
      refuse({"handler.produce.kafka"}, problem.keys.front() + ": " + problem.what, problem.hint);
    }
  }

  const Config& config_;
  const Settings& settings_;
  const Expected& expected_;
  Problems& problems_;
};

std::optional<std::string> unencrypted_credentials(const Config& config) {
  const auto* http = std::get_if<HttpSettings>(&config.handler);
  if (http == nullptr || !lower(http->url).starts_with("http://") || is_loopback(http->url)) return {};
  const bool in_url = has_login(http->url);
  if (http->authorization_file.empty() && !in_url) return {};
  return std::string(in_url ? "the user and password in handler.http.url travel"
                            : "the credentials of handler.http.authorization_file travel") +
         " unencrypted to a web service on another machine, with the records (an https:// address, or "
         "allow_insecure: true if this is meant)";
}

}  // namespace

void check_rules(const Config& config, const Settings& settings, const Expected& expected,
                 Problems& problems) {
  Rules(config, settings, expected, problems).check();
}

std::vector<std::string> warnings_about(const Config& config) {
  std::vector<std::string> warnings;
  if (config.allow_insecure) return warnings;
  const auto add = [&](std::optional<std::string> warning) {
    if (warning) warnings.push_back(std::move(*warning));
  };
  add(unencrypted(config.kafka, "kafka.security.protocol"));
  const auto* produce = std::get_if<ProduceSettings>(&config.handler);
  if (produce != nullptr && (produce->other_cluster() || produce->client.contains("security.protocol")))
    add(unencrypted(client_of_producer(config.kafka, produce->client),
                    "handler.produce.kafka: security.protocol"));
  add(unencrypted_credentials(config));
  return warnings;
}

}  // namespace laneway::config
