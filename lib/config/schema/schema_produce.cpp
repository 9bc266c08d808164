#include "config/schema/schema_produce.h"

#include <algorithm>

#include "config/client/client_keys.h"
#include "config/rules/checks.h"
#include "config/rules/retry_topics.h"
#include "config/yaml/read_file.h"

namespace laneway::config {
namespace {

using std::chrono::hours;

#define AT_PRODUCE(field) \
  [](auto& config) -> auto& { return std::get<ProduceSettings>(config.handler).field; }

Result<std::string> topic_name(const std::string& name) {
  auto what = name.starts_with('^') ? "it is a pattern" : check_topic(name);
  if (!what.empty()) return wrong_value(std::move(what));
  return name;
}

/// A secret may be in a file: then `name` loses its "_file".
std::optional<BadValue> read_secret_file(std::string& name, const Entry& entry, std::string& value) {
  constexpr std::string_view suffix = "_file";
  if (!name.ends_with(suffix)) return std::nullopt;
  const auto* key = find_producer_key(std::string_view(name).substr(0, name.size() - suffix.size()));
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
  if (!entry.value.is_scalar()) return BadValue{entry.value, "a client key has one value"};
  if (auto bad = read_secret_file(name, entry, value)) return bad;
  const auto* key = find_producer_key(name);
  if (key == nullptr) return BadValue{key_node, "a producer of laneway does not take this key"};
  if (const auto objection = key->objection(value))
    return BadValue{key->secret ? key_node : entry.value,
                    name + " is " + (objection->empty() ? key->expects() : *objection)};
  if (const auto safe = key->names_secret ? check_owners_only(value) : Status(); !safe)
    return BadValue{entry.value, name + ": " + safe.error().text()};
  client[name] = {value, "handler.produce.kafka", key->secret};
  return std::nullopt;
}

Property client_property() {
  auto property = map_property(
      "handler.produce.kafka", handler_at_start,
      "a map of librdkafka's keys for a connection or a producer, such as { linger.ms: 20, compression.type: "
      "lz4 }",
      "client keys of the producer, beside and before those of kafka; with bootstrap.servers of its own it "
      "takes over no user, password, key or certificate from there",
      AT_PRODUCE(client), set_client_key, [](const std::string& key, const ClientSetting& setting) {
        return key + ": " + (setting.secret ? "\"*****\"" : yaml_scalar(setting.value));
      });
  property.equal = [](const Config& a, const Config& b) {
    const auto& of_a = std::get<ProduceSettings>(a.handler).client;
    const auto& of_b = std::get<ProduceSettings>(b.handler).client;
    return std::equal(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(), [](const auto& x, const auto& y) {
      return x.first == y.first && x.second.value == y.second.value;
    });
  };
  return property;
}

std::optional<BadValue> set_header_name(std::map<std::string, std::string>& names, const Entry& entry) {
  if (entry.key.empty()) return BadValue{key_node(entry), "a header has a name"};
  if (!entry.value.is_scalar()) return BadValue{entry.value, "a name, or \"\" to leave the header out"};
  names[entry.key] = entry.value.text;
  return std::nullopt;
}

Property header_names_property() {
  return map_property(
      "handler.produce.rename_headers", handler_at_start,
      "a map of header names to other names, or to \"\", such as { source: origin, secret: \"\" }",
      "other names for the headers of what is written; \"\" leaves one out", AT_PRODUCE(rename_headers),
      set_header_name, [](const std::string& name, const std::string& other) {
        return yaml_scalar(name) + ": " + yaml_scalar(other);
      });
}

Property output_property() {
  Property property = text(
      "handler.produce.topic", handler_at_start, "the name of a topic; {topic} in it is the record's own",
      "where records are written", AT_PRODUCE(topic),
      [](const std::string& topic) { return topic.empty() ? topic : check_topic_template(topic); });
  property.example = "\"{topic}-out\"";
  return property;
}

}  // namespace

void add_produce(std::vector<Property>& table) {
  table.push_back(output_property());
  table.push_back(text("handler.produce.topic_header", handler_at_start,
                       "the name of a record header, or \"\" for none",
                       "a header that names the topic instead, one of topics", AT_PRODUCE(topic_header),
                       [](const std::string&) { return std::string(); }));
  table.push_back(text("handler.produce.topic_field", handler_at_start,
                       "a JSON pointer such as /type, or \"\" for none",
                       "a text in a value of JSON that names the topic instead, one of topics",
                       AT_PRODUCE(topic_field), check_json_pointer));
  table.push_back(list_property("handler.produce.topics", handler_at_start, "a list of topic names",
                                "the topics that topic_header or topic_field may name", AT_PRODUCE(topics),
                                topic_name, yaml_scalar, [](const auto&) { return std::string(); }));
  table.push_back(choice<ProduceSettings::Partition>(
      "handler.produce.partition", handler_at_start,
      {{"by_key", ProduceSettings::Partition::by_key}, {"keep", ProduceSettings::Partition::keep}},
      "by the hash of the key as Java's client does, or the number of the record's own",
      AT_PRODUCE(partition)));
  table.push_back(choice<bool>("handler.produce.key", handler_at_start, {{"keep", true}, {"none", false}},
                               "the key of what is written", AT_PRODUCE(keep_key)));
  table.push_back(text("handler.produce.key_header", handler_at_start,
                       "the name of a record header, or \"\" for none",
                       "a header whose value is the key instead; a record without it is rejected",
                       AT_PRODUCE(key_header), [](const std::string&) { return std::string(); }));
  table.push_back(
      text("handler.produce.key_field", handler_at_start, "a JSON pointer such as /id, or \"\" for none",
           "a text or a whole number in a value of JSON that is the key instead; a record without "
           "it is rejected",
           AT_PRODUCE(key_field), check_json_pointer));
  table.push_back(choice<bool>("handler.produce.headers", handler_at_start, {{"keep", true}, {"none", false}},
                               "the headers of what is written", AT_PRODUCE(keep_headers)));
  table.push_back(header_names_property());
  table.push_back(choice<ProduceSettings::Timestamp>(
      "handler.produce.timestamp", handler_at_start,
      {{"keep", ProduceSettings::Timestamp::keep}, {"now", ProduceSettings::Timestamp::now}},
      "the timestamp of what is written", AT_PRODUCE(timestamp)));
  table.push_back(flag("handler.produce.transactional", handler_at_start,
                       "exactly once: records are written, and their offsets committed, in transactions of "
                       "commit.interval",
                       AT_PRODUCE(transactional)));
  table.push_back(duration("handler.produce.timeout", handler_at_start, seconds(1), hours(1),
                           "a record not acknowledged by then is unavailable; 10s where transactional",
                           AT_PRODUCE(timeout)));
  table.push_back(client_property());
}

#undef AT_PRODUCE

void set_defaults_of_transactions(Config& config, const Settings& settings) {
  auto* produce = std::get_if<ProduceSettings>(&config.handler);
  if (produce == nullptr || !produce->transactional) return;
  if (!settings.contains("commit.interval")) config.commit.interval = milliseconds(100);
  if (!settings.contains("commit.every")) config.commit.every = 100000;
  if (!settings.contains("handler.produce.timeout")) produce->timeout = seconds(10);
}

std::string output_topic(const ProduceSettings& produce, const std::string& topic) {
  return topic_from_template(produce.topic, topic);
}

std::string looping_topic(const Config& config, const ProduceSettings& produce) {
  if (produce.other_cluster() || config.topics_by_pattern()) return {};
  auto read = retry_topics(config);
  read.insert(read.end(), config.topics.begin(), config.topics.end());
  const auto is_read = [&](const std::string& topic) {
    return std::find(read.begin(), read.end(), topic) != read.end();
  };
  for (const auto& topic : config.topics)
    if (const auto output = output_topic(produce, topic); is_read(output)) return output;
  const auto allowed = std::find_if(produce.topics.begin(), produce.topics.end(), is_read);
  return allowed == produce.topics.end() ? std::string() : *allowed;
}

}  // namespace laneway::config
