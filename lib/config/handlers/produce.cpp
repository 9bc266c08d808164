#include "config/handlers/handler_schema.h"

#include <algorithm>
#include <optional>

#include "config/checks/checks.h"
#include "config/checks/connection_rules.h"
#include "config/checks/rule_context.h"
#include "config/client/client_keys.h"
#include "config/pools/parking.h"
#include "config/property.h"
#include "config/text.h"
#include "config/yaml/problem.h"
#include "config/yaml/read_file.h"

namespace laneway::config {
namespace {

using std::chrono::hours;

std::string check_name(const std::string& topic) {
  return topic.starts_with('^') ? "it is a pattern, and not the name of a topic" : check_topic(topic);
}

/// If `name` is a secret's key with "_file", reads the file and takes "_file" away.
std::optional<BadValue> read_secret_file(std::string& name, const Entry& entry, std::string& value) {
  const auto in_file = key_in_file(name);
  const auto* key = in_file ? find_producer_key(*in_file) : nullptr;
  if (key == nullptr || !key->secret) return std::nullopt;
  auto content = read_secret(value);
  if (!content) return BadValue{entry.value, content.error().message};
  value = std::move(content).value();
  name = key->name;
  return std::nullopt;
}

std::optional<BadValue> set_client_key(std::map<std::string, ClientSetting>& client, const Entry& entry) {
  std::string name = entry.key;
  std::string value = entry.value.text;
  const auto key_node = config::key_node(entry);
  if (!entry.value.is_scalar()) return BadValue{entry.value, "a key of the Kafka client has one value"};
  if (auto bad = read_secret_file(name, entry, value)) return bad;
  const auto* key = find_producer_key(name);
  if (key == nullptr) return BadValue{key_node, "laneway does not accept this key for a producer"};
  if (const auto objection = key->objection(value))
    return BadValue{key->secret ? key_node : entry.value,
                    name + (objection->empty() ? " must be " + key->expects() : ": " + *objection)};
  if (const auto safe = key->names_secret() ? check_owners_only(value) : Status(); !safe)
    return BadValue{entry.value, name + ": " + safe.error().text()};
  client[name] = {value, "handler.produce.kafka", key->secret};
  return std::nullopt;
}

auto client_form() {
  auto form =
      map("a map of librdkafka's keys for a connection or a producer, such as { linger.ms: 20, "
          "compression.type: lz4 }",
          set_client_key, [](const std::string& key, const ClientSetting& setting) {
            return key + ": " + (setting.secret ? "\"*****\"" : yaml_scalar(setting.value));
          });
  form.holds_secret = [](const Node& node) {
    return std::any_of(node.entries.begin(), node.entries.end(), [](const Entry& entry) {
      const auto* key = find_producer_key(entry.key);
      return key != nullptr && key->secret;
    });
  };
  return form;
}

std::optional<BadValue> set_header_name(std::map<std::string, std::string>& names, const Entry& entry) {
  if (entry.key.empty()) return BadValue{key_node(entry), "the name of a header is empty"};
  if (!entry.value.is_scalar())
    return BadValue{entry.value, "expected the new name of the header, or \"\" to leave the header out"};
  names[entry.key] = entry.value.text;
  return std::nullopt;
}

std::string print_header_name(const std::string& name, const std::string& other) {
  return yaml_scalar(name) + ": " + yaml_scalar(other);
}

Rows target_rows() {
  return rows_of<ProduceSettings>({
      {"handler.produce.topic",
       text("the name of a topic, in which {topic} stands for the record's own topic",
            empty_or(check_topic_template)),
       &ProduceSettings::topic, "The topic to which records are written.", "\"{topic}-out\""},
      {"handler.produce.topic_header", text("the name of a record header, or \"\" for none"),
       &ProduceSettings::topic_header,
       "A record header that names the output topic instead. The name must be in `topics` of this handler."},
      {"handler.produce.topic_field",
       text("a JSON pointer such as /type, or \"\" for none", check_json_pointer),
       &ProduceSettings::topic_field,
       "A field of a JSON value that names the output topic instead. The name must be in `topics` of this "
       "handler."},
      {"handler.produce.topics", list("a list of topic names", checked(check_name)), &ProduceSettings::topics,
       "The topics that `topic_header` or `topic_field` may name."},
      {"handler.produce.partition",
       choice<ProduceSettings::Partition>(
           {{"by_key", ProduceSettings::Partition::by_key}, {"keep", ProduceSettings::Partition::keep}}),
       &ProduceSettings::partition,
       "The partition of a written record: by the hash of the key, as the Java client chooses it, or the "
       "same number as the record's own."},
  });
}

Rows content_rows() {
  return rows_of<ProduceSettings>({
      {"handler.produce.key", choice<bool>({{"keep", true}, {"none", false}}), &ProduceSettings::keep_key,
       "Whether written records have a key."},
      {"handler.produce.key_header", text("the name of a record header, or \"\" for none"),
       &ProduceSettings::key_header,
       "A record header whose value becomes the key. A record without this header is rejected."},
      {"handler.produce.key_field", text("a JSON pointer such as /id, or \"\" for none", check_json_pointer),
       &ProduceSettings::key_field,
       "A field of a JSON value, text or a whole number, that becomes the key. A record without this field "
       "is rejected."},
      {"handler.produce.headers", choice<bool>({{"keep", true}, {"none", false}}),
       &ProduceSettings::keep_headers, "Whether written records have the headers of their record."},
      {"handler.produce.rename_headers",
       map("a map of header names to other names, or to \"\", such as { source: origin, secret: \"\" }",
           set_header_name, print_header_name),
       &ProduceSettings::rename_headers,
       "New names for the headers of written records. \"\" leaves a header out."},
      {"handler.produce.timestamp",
       choice<ProduceSettings::Timestamp>(
           {{"keep", ProduceSettings::Timestamp::keep}, {"now", ProduceSettings::Timestamp::now}}),
       &ProduceSettings::timestamp,
       "The timestamp of written records: the record's own, or the time of writing."},
      {"handler.produce.transactional", flag(), &ProduceSettings::transactional,
       "Exactly once: records are written and their offsets committed in one transaction per commit. "
       "commit.interval is then 100ms, unless it is set."},
      {"handler.produce.timeout", duration(seconds(1), hours(1)), &ProduceSettings::timeout,
       "How long to wait for the brokers to acknowledge a record. After this time the answer is unavailable. "
       "The default is 10s with `transactional`."},
      {"handler.produce.kafka", client_form(), &ProduceSettings::client,
       "Keys of the Kafka client for the producer. They are added to those of `kafka`, and override them. "
       "With a bootstrap.servers of its own, the producer takes no user, password, key or certificate from "
       "`kafka`."},
  });
}

Rows produce_properties() { return joined({target_rows(), content_rows()}); }

/// Keys that are not set have other defaults with `transactional`: readers see a record when its transaction
/// ends, and wait for a transaction that a killed process left open.
void set_defaults_of_transactions(Config& config, const Settings& settings) {
  auto& produce = std::get<ProduceSettings>(config.handler);
  if (!produce.transactional) return;
  if (!settings.contains("commit.interval")) config.commit.interval = milliseconds(100);
  if (!settings.contains("commit.every")) config.commit.every = 100000;
  if (!settings.contains("handler.produce.timeout")) produce.timeout = seconds(10);
}

/// A consumed topic to which this handler would write, so that its records would circulate forever; empty if
/// no named topic is both.
std::string looping_topic(const Config& config, const ProduceSettings& produce) {
  if (produce.other_cluster() || config.topics_by_pattern()) return {};
  auto read = retry_topics(config);
  read.insert(read.end(), config.topics.begin(), config.topics.end());
  const auto is_read = [&](const std::string& topic) {
    return std::find(read.begin(), read.end(), topic) != read.end();
  };
  for (const auto& topic : config.topics)
    if (const auto output = topic_from_template(produce.topic, topic); is_read(output)) return output;
  const auto allowed = std::find_if(produce.topics.begin(), produce.topics.end(), is_read);
  return allowed == produce.topics.end() ? std::string() : *allowed;
}

void check_produced_key(const ProduceSettings& produce, RuleContext& rules) {
  const bool by_header = !produce.key_header.empty();
  const bool by_field = !produce.key_field.empty();
  if (by_header && by_field)
    rules.refuse({"handler.produce.key_field"}, "key_header sets the key already", "remove one of the two");
  if ((by_header || by_field) && !produce.keep_key)
    rules.refuse({"handler.produce.key"}, "`key: none` contradicts key_header and key_field, which set a key",
                 "remove one of the two");
}

void check_transactions(const ProduceSettings& produce, RuleContext& rules) {
  const std::string key = "handler.produce.transactional";
  if (rules.config().consumers > 1)
    rules.refuse({"consumers", key},
                 "with transactional, a process has one group member and one transaction at a time",
                 "set consumers: 1 and start more processes");
  if (produce.other_cluster())
    rules.refuse({"handler.produce.kafka", key},
                 "a transaction belongs to one cluster, so records and offsets of different clusters cannot "
                 "be committed together",
                 "set transactional: false, or write to the cluster of the consumed topics");
  if (rules.client("isolation.level") == "read_uncommitted")
    rules.refuse({"kafka.isolation.level", key},
                 "with transactional, records of transactions that may still fail must not be consumed",
                 "set isolation.level: read_committed");
}

/// The producer's connection: `kafka` with the keys of `handler.produce.kafka`.
void check_producer_connection(const ProduceSettings& produce, RuleContext& rules) {
  if (produce.client.empty()) return;
  const auto all = client_of_producer(rules.config().kafka, produce.client);
  for (const auto& problem : rules.new_connection_problems(all, produce.client))
    rules.refuse({"handler.produce.kafka"}, problem.keys.front() + ": " + problem.what, problem.hint);
}

void check_produce(const HandlerSettings& handler, RuleContext& rules) {
  const auto& produce = std::get<ProduceSettings>(handler);
  const bool named = !produce.topic_header.empty() || !produce.topic_field.empty();
  if (produce.topic.empty() && !named)
    rules.require_of_handler("handler.produce.topic",
                             "the topic to which records are written, such as \"{topic}-out\"");
  if (!produce.topic_header.empty() && !produce.topic_field.empty())
    rules.refuse({"handler.produce.topic_field"}, "topic_header names the topic already",
                 "remove one of the two");
  if (named && produce.topics.empty())
    rules.refuse({"handler.produce.topic_header", "handler.produce.topic_field"},
                 "handler.produce.topics is empty, so a record could name any topic",
                 "list the topics that a record may name in handler.produce.topics");
  if (!named && !produce.topics.empty())
    rules.refuse({"handler.produce.topics"}, "this key has no effect without topic_header or topic_field",
                 "set one of the two, or remove this key");
  check_produced_key(produce, rules);
  if (!produce.keep_headers && !produce.rename_headers.empty())
    rules.refuse({"handler.produce.rename_headers"},
                 "rename_headers has no effect, because `headers: none` drops all headers",
                 "remove one of the two");
  if (const auto topic = looping_topic(rules.config(), produce); !topic.empty())
    rules.refuse({"handler.produce.topic", "handler.produce.topics"},
                 in_quotes(topic) + " is consumed too, so its records would circulate forever",
                 "write to another topic");
  if (produce.transactional) check_transactions(produce, rules);
  check_producer_connection(produce, rules);
}

std::vector<std::string> warnings_about_produce(const HandlerSettings& handler, const Config& config) {
  const auto& produce = std::get<ProduceSettings>(handler);
  if (!produce.other_cluster() && !produce.client.contains("security.protocol")) return {};
  const auto warning = unencrypted(client_of_producer(config.kafka, produce.client),
                                   "handler.produce.kafka: security.protocol");
  return warning ? std::vector{*warning} : std::vector<std::string>{};
}

HandlerOutput output_of_produce(const HandlerSettings& handler) {
  const auto& produce = std::get<ProduceSettings>(handler);
  HandlerOutput output{produce.client, produce.transactional, {}};
  if (produce.other_cluster()) return output;
  if (!produce.topic.empty()) output.topics.push_back({"handler.produce.topic", produce.topic});
  for (const auto& topic : produce.topics) output.topics.push_back({"handler.produce.topics", topic});
  return output;
}

}  // namespace

HandlerSchema schema_of(const ProduceSettings&) {
  return {.name = "produce",
          .properties = produce_properties,
          .check = check_produce,
          .warnings = warnings_about_produce,
          .set_dependent_defaults = set_defaults_of_transactions,
          .traits = {.occupies = Occupies::nothing,
                     .gives_results = false,
                     .does_work = true,
                     .output = output_of_produce,
                     .program = nullptr},
          .section = {.position = 5,
                      .text = "Writes each record to another topic, in the same cluster or in another one.",
                      .example = "handler:\n  produce: { topic: \"{topic}-out\", transactional: true }\n"}};
}

}  // namespace laneway::config
