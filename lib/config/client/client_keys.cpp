#include "config/client/client_keys.h"

#include <algorithm>
#include <charconv>

#include "config/text.h"

namespace laneway::config {
namespace {

using Type = ClientKey::Type;

constexpr std::int64_t int_max = 2147483647;

constexpr ClientKey text(std::string_view name, std::string_view description, std::string_view since = "",
                         std::string_view default_value = "") {
  return {.name = name, .description = description, .default_value = default_value, .since = since};
}
constexpr ClientKey secret(std::string_view name, std::string_view description) {
  return {.name = name, .description = description, .secret = true, .credential = true};
}
constexpr ClientKey credential(ClientKey key) {
  key.credential = true;
  return key;
}
constexpr ClientKey number(std::string_view name, std::int64_t min, std::int64_t max,
                           std::string_view description, std::string_view since = "",
                           std::string_view default_value = "") {
  return {.name = name,
          .description = description,
          .type = Type::whole_number,
          .min = min,
          .max = max,
          .default_value = default_value,
          .since = since};
}
constexpr ClientKey flag(std::string_view name, std::string_view description, std::string_view since = "") {
  return {.name = name, .description = description, .type = Type::flag, .since = since};
}
constexpr ClientKey choice(std::string_view name, std::string_view choices, std::string_view description,
                           std::string_view since = "", std::string_view default_value = "") {
  return {.name = name,
          .description = description,
          .type = Type::choice,
          .choices = choices,
          .default_value = default_value,
          .since = since};
}

constexpr ClientKey consumer_only(ClientKey key) {
  key.consumer_only = true;
  return key;
}

constexpr ClientKey file(ClientKey::File content, std::string_view name, std::string_view description,
                         std::string_view since = "") {
  auto key = text(name, description, since);
  key.file = content;
  key.credential = content >= ClientKey::File::certificate;
  return key;
}

using File = ClientKey::File;

constexpr ClientKey keys[] = {
    // Connection
    text("bootstrap.servers",
         "Brokers to connect to first, HOST:PORT separated by commas. The client learns the others from "
         "them."),
    text("client.id", "Name that brokers see in requests, logs and quotas.", "", "laneway"),
    text("client.rack", "Rack of this machine, to fetch from a follower nearby."),
    choice("security.protocol", "plaintext ssl sasl_plaintext sasl_ssl",
           "Protocol of the connections to brokers: with or without TLS (ssl) and a login (sasl)."),
    number("socket.timeout.ms", 10, 300000, "Time limit of a network request, in ms."),
    number("socket.connection.setup.timeout.ms", 1000, int_max,
           "Time limit for opening a connection, in ms."),
    number("socket.send.buffer.bytes", 0, 100000000,
           "Size of the socket's send buffer; 0 uses the system's."),
    number("socket.receive.buffer.bytes", 0, 100000000,
           "Size of the socket's receive buffer; 0 uses the system's."),
    flag("socket.keepalive.enable", "Whether broker connections use TCP keep-alive."),
    flag("socket.nagle.disable", "Whether broker connections use TCP_NODELAY."),
    number("socket.max.fails", 0, 1000000, "Number of failed requests after which a connection is closed."),
    number("connections.max.idle.ms", 0, int_max,
           "Time after which an idle connection is closed, in ms; 0 disables this."),
    number("reconnect.backoff.ms", 0, 3600000, "First delay before a reconnect, in ms."),
    number("reconnect.backoff.max.ms", 0, 3600000, "Longest delay before a reconnect, in ms."),
    number("broker.address.ttl", 0, 86400000, "How long a resolved address is kept, in ms."),
    choice("broker.address.family", "any v4 v6", "IP versions to use."),
    choice("client.dns.lookup", "use_all_dns_ips resolve_canonical_bootstrap_servers_only",
           "How host names with several addresses are used.", "2.2.0"),
    number("retry.backoff.ms", 1, 300000, "Delay before a request is repeated, in ms."),
    number("retry.backoff.max.ms", 1, 300000, "Longest delay before a request is repeated, in ms.", "2.3.0"),
    number(
        "topic.metadata.refresh.interval.ms", -1, 3600000,
        "How often topics are looked up, in ms; -1 disables the look-up. Without this key, the topics of a "
        "pattern are looked up every 30 s."),
    number("topic.metadata.refresh.fast.interval.ms", 1, 60000,
           "How often topics are looked up while a leader is missing, in ms."),
    flag("topic.metadata.refresh.sparse", "Whether only the topics in use are looked up."),
    number("topic.metadata.propagation.max.ms", 0, 3600000, "How long a new topic may stay unknown, in ms."),
    number("metadata.max.age.ms", 1, 86400000, "Age after which looked-up topics are dropped, in ms."),
    choice("metadata.recovery.strategy", "none rebootstrap", "What to do when no known broker answers.",
           "2.10.0"),
    number("metadata.recovery.rebootstrap.trigger.ms", 0, int_max,
           "Time without a broker before metadata.recovery.strategy applies, in ms.", "2.11.0"),
    flag("api.version.request", "Whether brokers are asked for their versions."),
    number("api.version.request.timeout.ms", 1, 300000,
           "Time limit for asking brokers for their versions, in ms."),
    flag("log.connection.close", "Whether closed connections are logged."),
    flag("enable.metrics.push", "Whether client metrics are sent to brokers that ask for them.", "2.5.0"),
    text("debug", "The library's debug contexts, separated by commas, such as cgrp,fetch."),
    // TLS
    file(File::authorities, "ssl.ca.location",
         "File or directory of the CA certificates that verify the brokers."),
    text("ssl.ca.pem", "The CA certificates themselves, in PEM."),
    file(File::revocations, "ssl.crl.location", "File of revoked certificates."),
    file(File::certificate, "ssl.certificate.location", "File of the client's certificate."),
    credential(text("ssl.certificate.pem", "The client's certificate itself, in PEM.")),
    file(File::private_key, "ssl.key.location",
         "File of the client's private key. Only its owner may read the file."),
    secret("ssl.key.pem", "The client's private key itself, in PEM."),
    secret("ssl.key.password", "Password of the private key."),
    file(File::key_store, "ssl.keystore.location",
         "PKCS#12 file of the client's key and certificate. Only its owner may read the file."),
    secret("ssl.keystore.password", "Password of the key store."),
    text("ssl.cipher.suites", "Allowed cipher suites."),
    text("ssl.curves.list", "Allowed curves."),
    text("ssl.sigalgs.list", "Allowed signature algorithms."),
    choice("ssl.endpoint.identification.algorithm", "https none",
           "How the broker's name is verified. none needs allow_insecure."),
    flag("enable.ssl.certificate.verification",
         "Whether the broker's certificate is verified. false needs allow_insecure."),
    file(File::authorities, "https.ca.location",
         "File of the CA certificates for token servers and other HTTPS servers.", "2.11.0"),
    text("https.ca.pem", "The CA certificates for HTTPS servers themselves, in PEM.", "2.11.0"),
    // SASL
    choice("sasl.mechanism", "PLAIN SCRAM-SHA-256 SCRAM-SHA-512 GSSAPI OAUTHBEARER", "How laneway logs in."),
    choice("sasl.mechanisms", "PLAIN SCRAM-SHA-256 SCRAM-SHA-512 GSSAPI OAUTHBEARER",
           "Another name of sasl.mechanism."),
    credential(text("sasl.username", "User for PLAIN and SCRAM.")),
    secret("sasl.password", "Password for PLAIN and SCRAM."),
    text("sasl.kerberos.service.name", "Kerberos principal of the brokers, without the host."),
    credential(text("sasl.kerberos.principal", "Kerberos principal of laneway.")),
    file(File::key_table, "sasl.kerberos.keytab", "Key table for `kinit`. Only its owner may read the file."),
    number("sasl.kerberos.min.time.before.relogin", 0, 86400000,
           "Shortest time between two refreshes of the ticket, in ms; 0 disables refreshing."),
    choice("sasl.oauthbearer.method", "default oidc",
           "Where tokens come from. oidc needs a librdkafka that is built with libcurl; Debian 12's is not."),
    credential(text("sasl.oauthbearer.client.id", "Name of laneway at the token server.")),
    secret("sasl.oauthbearer.client.secret", "Secret of laneway at the token server."),
    text("sasl.oauthbearer.token.endpoint.url", "URL of the token server."),
    text("sasl.oauthbearer.scope", "Scope of the tokens."),
    credential(text("sasl.oauthbearer.extensions", "Extensions, key=value separated by commas.")),
    secret("sasl.oauthbearer.config", "Fields of an unsecured token."),
    flag("enable.sasl.oauthbearer.unsecure.jwt", "Whether unsecured tokens are used, for tests."),
    // Group, session and assignment
    consumer_only(text(
        "group.id", "The consumer group. Instances with the same group share the partitions of the topics.")),
    consumer_only(text("group.instance.id",
                       "Name for static membership: a restart within the session keeps the partitions. "
                       "With several consumers, -1, -2 and so on are appended.")),
    consumer_only(number("session.timeout.ms", 1, 3600000,
                         "Silence after which a classic member is removed from the group, in ms.")),
    consumer_only(
        number("heartbeat.interval.ms", 1, 3600000, "Interval of a classic member's heartbeats, in ms.")),
    consumer_only(number("max.poll.interval.ms", 1, 86400000,
                         "Time limit for a drain in a rebalance, in ms. lanes.drain must be shorter.")),
    consumer_only(number("coordinator.query.interval.ms", 1, 3600000,
                         "How often the group's coordinator is looked up, in ms.")),
    consumer_only(text("partition.assignment.strategy",
                       "range, roundrobin, both separated by a comma, or cooperative-sticky.")),
    consumer_only(choice("group.protocol", "classic consumer",
                         "Who assigns the partitions: the members (classic), or the brokers (consumer). See "
                         "docs/consumer-protocol.md.",
                         "2.4.0")),
    consumer_only(
        text("group.remote.assignor", "The broker's assignor, with group.protocol: consumer.", "2.4.0")),
    // Fetching
    consumer_only(
        choice("auto.offset.reset", "earliest latest smallest beginning largest end",
               "Where a partition without a committed offset begins. When retention has deleted the next "
               "record, a lane continues at the start of the log, whatever the value.",
               "", "earliest")),
    consumer_only(choice("isolation.level", "read_committed read_uncommitted",
                         "Whether records of open and aborted transactions are consumed.")),
    consumer_only(
        number("fetch.wait.max.ms", 0, 300000, "How long a broker waits to collect fetch.min.bytes, in ms.")),
    consumer_only(number("fetch.min.bytes", 1, 100000000, "Smallest answer of a fetch, in bytes.")),
    consumer_only(number("fetch.error.backoff.ms", 0, 300000, "Delay after a failed fetch, in ms.")),
    consumer_only(number("fetch.queue.backoff.ms", 0, 300000,
                         "Delay between fetches while enough records are fetched, in ms.", "2.2.0")),
    number("receive.message.max.bytes", 1000, int_max,
           "Largest answer of a broker, in bytes, and largest size to which a batch of records may be "
           "decompressed (zstd).",
           "", default_receive_bytes),
    consumer_only(flag("check.crcs", "Whether the records' checksums are verified.")),
    consumer_only(flag("allow.auto.create.topics", "Whether brokers may create topics that do not exist.")),
};

constexpr ClientKey keys_of_producers[] = {
    number("linger.ms", 0, 900000, "How long a record waits for others to share its batch, in ms."),
    number("batch.size", 1, int_max, "Largest size of a batch, in bytes."),
    number("batch.num.messages", 1, 1000000, "Maximum number of records in a batch."),
    choice("compression.type", "none gzip snappy lz4 zstd", "Compression of batches."),
    number("compression.level", -1, 12, "Compression level; -1 uses the codec's own."),
    number("message.max.bytes", 1000, 1000000000, "Largest record that is sent, in bytes."),
    number("queue.buffering.max.messages", 1, 10000000,
           "Maximum number of records that are sent and not acknowledged."),
    number("queue.buffering.max.kbytes", 1, 2097151,
           "Maximum size of records that are sent and not acknowledged, in KiB."),
    choice("partitioner", "random consistent consistent_random murmur2 murmur2_random fnv1a fnv1a_random",
           "How the partition of a key is chosen.", "", "murmur2_random"),
    number("sticky.partitioning.linger.ms", 0, 900000,
           "How long records without a key stay with one partition, in ms."),
};

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

/// Refuses characters that a file or an editor adds by accident.
std::optional<std::string> objection_to_text(const ClientKey& key, std::string_view value) {
  if (value.find('\0') != value.npos) return "it contains a zero byte";
  if (value.starts_with("\xef\xbb\xbf")) return "it begins with a byte order mark";
  if (key.name.ends_with(".pem")) return std::nullopt;
  if (value.find_first_of("\r\n") != value.npos) return "it contains a line break";
  if (!key.secret && (value.front() == ' ' || value.back() == ' ')) return "it begins or ends with a blank";
  return std::nullopt;
}

}  // namespace

ClientSettings client_of_producer(const ClientSettings& consumer, const ClientSettings& own) {
  const bool other_cluster = own.contains("bootstrap.servers");
  ClientSettings client = own;
  for (const auto& setting : consumer) {
    const auto* key = find_client_key(setting.first);
    if (key == nullptr || !(key->consumer_only || (other_cluster && key->credential))) client.insert(setting);
  }
  return client;
}

Duration request_timeout(const ClientSettings& client) {
  const auto timeout = client.find("socket.timeout.ms");
  return milliseconds(timeout == client.end() ? 60000 : std::stoll(timeout->second.value));
}

Duration topic_look_up_interval(const ClientSettings& client) {
  const auto interval = client.find("topic.metadata.refresh.interval.ms");
  const auto ms = interval == client.end() ? 30000 : std::stoll(interval->second.value);
  return ms < 0 ? Duration::max() : std::max<Duration>(milliseconds(ms), milliseconds(100));
}

std::optional<std::string_view> key_in_file(std::string_view name) {
  if (!name.ends_with(secret_file_suffix)) return std::nullopt;
  return name.substr(0, name.size() - secret_file_suffix.size());
}

const ClientKey* find_producer_key(std::string_view name) {
  if (const auto* key = find_named(keys_of_producers, name)) return key;
  const auto* key = find_client_key(name);
  return key == nullptr || key->consumer_only ? nullptr : key;
}

std::span<const ClientKey> client_keys() { return keys; }

const ClientKey* find_client_key(std::string_view name) { return find_named(keys, name); }

std::span<const RefusedClientKey> refused_client_keys() { return refused; }

const RefusedClientKey* find_refused_client_key(std::string_view name) {
  for (const auto& key : refused)
    for (const auto& pattern : split(key.names, " "))
      if (matches(pattern, name)) return &key;
  return nullptr;
}

std::string ClientKey::expects() const {
  switch (type) {
    case Type::whole_number:
      return "a whole number from " + std::to_string(min) + " to " + std::to_string(max);
    case Type::flag:
      return "true or false";
    case Type::choice:
      return "one of " + join(split(choices, " "), ", ");
    case Type::text:
      break;
  }
  return "text";
}

std::optional<std::string> ClientKey::objection(std::string_view value) const {
  const auto unless = [](bool right) { return right ? std::nullopt : std::optional<std::string>(""); };
  if (value.empty()) return "it is empty";
  if (type == Type::flag) return unless(lower(value) == "true" || lower(value) == "false");
  if (type == Type::choice) {
    const bool exact =
        lower(choices) != choices;  // those of SASL's mechanisms, which the library compares by case
    const auto allowed = split(choices, " ");
    return unless(std::find(allowed.begin(), allowed.end(), exact ? value : lower(value)) != allowed.end());
  }
  if (type == Type::text) return objection_to_text(*this, value);
  std::int64_t number = 0;
  const auto* end = value.data() + value.size();
  const auto [rest, failure] = std::from_chars(value.data(), end, number);
  if (rest != end || failure == std::errc::invalid_argument) return "";
  if (failure != std::errc{} || number < min || number > max) return "it is out of range";
  return std::nullopt;
}

}  // namespace laneway::config
