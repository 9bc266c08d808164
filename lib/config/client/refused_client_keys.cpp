#include "config/client/refused_client_keys.h"

#include <algorithm>
#include <iterator>

namespace laneway::config {
namespace {

constexpr std::string_view commits = "laneway commits finished records itself";
constexpr std::string_view fetching = "laneway sizes the fetch buffers of all partitions together";
constexpr std::string_view runs_code = "the key would run code inside laneway";
constexpr std::string_view no_producer = "this is a key of producers, and this client consumes";
constexpr std::string_view of_java = "this is a key of Kafka's Java clients";
constexpr std::string_view own_callback = "only a program can set this key, and no file";

constexpr RefusedClientKey refused[] = {
    {"enable.auto.commit", commits, "commit.interval and commit.every"},
    {"auto.commit.enable", commits, "commit.interval and commit.every"},
    {"auto.commit.interval.ms", commits, "commit.interval"},
    {"enable.auto.offset.store", commits, "commit.interval and commit.every"},
    {"offset.store.*", commits, "commit.interval and commit.every"},
    {"enable.partition.eof", "laneway itself decides which events it needs", ""},
    {"enabled_events", "laneway itself decides which events it needs", ""},
    {"statistics.interval.ms", "laneway measures itself", "the metrics of admin.listen"},
    {"queued.min.messages", fetching, "lanes.memory"},
    {"queued.max.messages.kbytes", fetching, "lanes.memory"},
    {"fetch.message.max.bytes", fetching, "lanes.memory"},
    {"max.partition.fetch.bytes", fetching, "lanes.memory"},
    {"fetch.max.bytes", fetching, "lanes.memory"},
    {"consume.callback.max.messages", fetching, "lanes.memory"},
    {"message.max.bytes", no_producer, "receive.message.max.bytes, for fetched records,"},
    {"topic.blacklist", "laneway leaves topics out by its own key", "exclude_topics"},
    {"metadata.broker.list", "this is an old name", "bootstrap.servers"},
    {"log_level", "laneway logs the library's messages with its own level", "log.level"},
    {"log.queue", "laneway logs the library's messages with its own level", "log.level"},
    {"group.protocol.type", "laneway is always a consumer", ""},
    {"builtin.features", "this key only shows how the library was built", "laneway version"},
    {"sasl.kerberos.kinit.cmd", "the key would run a shell command",
     "a program such as k5start, which keeps a ticket fresh,"},
    {"sasl.jaas.config", of_java,
     "sasl.username and sasl.password_file, or the keys of the mechanism (docs/access.md),"},
    {"sasl.login.*", of_java, "sasl.oauthbearer.method: oidc (docs/access.md)"},
    {"ssl.truststore.*", of_java, "ssl.ca.location, a PEM file,"},
    {"ssl.keystore.type", of_java, "ssl.keystore.location for PKCS#12, or ssl.certificate.location for PEM,"},
    {"plugin.library.paths", runs_code, ""},
    {"interceptors", own_callback, ""},
    {"ssl.engine.*", runs_code, "ssl.key.location"},
    {"ssl.providers", runs_code, "ssl.key.location"},
    {"ssl_*", own_callback, "ssl.key.location, ssl.certificate.location and ssl.ca.location"},
    {"ssl.certificate.verify_cb", own_callback, "ssl.ca.location"},
    {"test.mock.*", "the key would replace the brokers by brokers in memory", "laneway demo"},
    {"internal.*", "this key is for the library's own tests", ""},
    {"*_cb", own_callback, ""},
    {"opaque", own_callback, ""},
    {"default_topic_conf", own_callback, ""},
    {"transactional.id", no_producer, ""},
    {"transaction.timeout.ms", no_producer, ""},
    {"enable.idempotence", no_producer, ""},
    {"queue.buffering.*", no_producer, ""},
    {"linger.ms", no_producer, ""},
    {"batch.*", no_producer, ""},
    {"compression.*", no_producer, ""},
    {"request.required.acks", no_producer, ""},
    {"acks", no_producer, ""},
    {"retries", no_producer, ""},
};

bool matches(std::string_view pattern, std::string_view name) {
  if (pattern.starts_with('*')) return name.ends_with(pattern.substr(1));
  if (pattern.ends_with('*')) return name.starts_with(pattern.substr(0, pattern.size() - 1));
  return pattern == name;
}

}  // namespace

std::span<const RefusedClientKey> refused_client_keys() { return refused; }

const RefusedClientKey* find_refused_client_key(std::string_view name) {
  const auto* found = std::find_if(std::begin(refused), std::end(refused),
                                   [&](const auto& key) { return matches(key.name, name); });
  return found == std::end(refused) ? nullptr : found;
}

}  // namespace laneway::config
