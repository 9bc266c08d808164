#include "config/client/refused_client_keys.h"

#include "config/text.h"

namespace laneway::config {
namespace {

constexpr std::string_view commits = "laneway commits finished records itself";
constexpr std::string_view fetching = "laneway sizes the fetch buffers of all partitions together";
constexpr std::string_view runs_code = "the key would run code inside laneway";
constexpr std::string_view no_producer = "this is a key of producers, and this client consumes";
constexpr std::string_view of_java = "this is a key of Kafka's Java clients";
constexpr std::string_view own_callback = "only a program can set this key, and no file";

constexpr RefusedClientKey refused[] = {
    {"enable.auto.commit auto.commit.enable enable.auto.offset.store offset.store.*", commits,
     "commit.interval and commit.every"},
    {"auto.commit.interval.ms", commits, "commit.interval"},
    {"enable.partition.eof enabled_events", "laneway itself decides which events it needs", ""},
    {"statistics.interval.ms", "laneway measures itself", "the metrics of admin.listen"},
    {"queued.min.messages queued.max.messages.kbytes fetch.message.max.bytes max.partition.fetch.bytes "
     "fetch.max.bytes consume.callback.max.messages",
     fetching, "lanes.memory"},
    {"message.max.bytes", no_producer, "receive.message.max.bytes, for fetched records,"},
    {"topic.blacklist", "laneway leaves topics out by its own key", "exclude_topics"},
    {"metadata.broker.list", "this is an old name", "bootstrap.servers"},
    {"log_level log.queue", "laneway logs the library's messages with its own level", "log.level"},
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
    {"ssl.engine.* ssl.providers", runs_code, "ssl.key.location"},
    {"ssl_*", own_callback, "ssl.key.location, ssl.certificate.location and ssl.ca.location"},
    {"ssl.certificate.verify_cb", own_callback, "ssl.ca.location"},
    {"test.mock.*", "the key would replace the brokers by brokers in memory", "laneway demo"},
    {"internal.*", "this key is for the library's own tests", ""},
    {"interceptors *_cb opaque default_topic_conf", own_callback, ""},
    {"transactional.id transaction.timeout.ms enable.idempotence queue.buffering.* linger.ms batch.* "
     "compression.* request.required.acks acks retries",
     no_producer, ""},
};

bool matches(std::string_view pattern, std::string_view name) {
  if (pattern.starts_with('*')) return name.ends_with(pattern.substr(1));
  if (pattern.ends_with('*')) return name.starts_with(pattern.substr(0, pattern.size() - 1));
  return pattern == name;
}

}  // namespace

std::span<const RefusedClientKey> refused_client_keys() { return refused; }

const RefusedClientKey* find_refused_client_key(std::string_view name) {
  for (const auto& key : refused)
    for (const auto& pattern : split(key.names, " "))
      if (matches(pattern, name)) return &key;
  return nullptr;
}

}  // namespace laneway::config
