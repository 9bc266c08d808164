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
  return {.name = name,
          .description = description,
          .choices = {},
          .default_value = default_value,
          .since = since};
}
constexpr ClientKey secret(std::string_view name, std::string_view description) {
  return {.name = name,
          .description = description,
          .choices = {},
          .secret = true,
          .default_value = {},
          .since = {},
          .credential = true};
}
constexpr ClientKey credential(ClientKey key) {
  key.credential = true;
  return key;
}
constexpr ClientKey number(std::string_view name, std::int64_t min, std::int64_t max,
                           std::string_view description, std::string_view since = "") {
  return {.name = name,
          .description = description,
          .type = Type::whole_number,
          .min = min,
          .max = max,
          .choices = {},
          .default_value = {},
          .since = since};
}
constexpr ClientKey flag(std::string_view name, std::string_view description, std::string_view since = "") {
  return {.name = name,
          .description = description,
          .type = Type::flag,
          .choices = {},
          .default_value = {},
          .since = since};
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

constexpr ClientKey file_of_secret(std::string_view name, std::string_view description) {
  auto key = credential(text(name, description));
  key.names_secret = true;
  return key;
}

constexpr ClientKey keys[] = {
    // Connection
    text("bootstrap.servers", "brokers to begin with, host:port separated by commas"),
    text("client.id", "name that brokers see in requests, logs and quotas", "", "laneway"),
    text("client.rack", "rack of this machine, to fetch from a follower near by"),
    choice("security.protocol", "plaintext ssl sasl_plaintext sasl_ssl", "how brokers are spoken to"),
    number("socket.timeout.ms", 10, 300000, "limit of a network request"),
    number("socket.connection.setup.timeout.ms", 1000, int_max, "limit of a connection's set-up"),
    number("socket.send.buffer.bytes", 0, 100000000, "the socket's send buffer, 0: the system's"),
    number("socket.receive.buffer.bytes", 0, 100000000, "the socket's receive buffer, 0: the system's"),
    flag("socket.keepalive.enable", "TCP keep-alive on broker connections"),
    flag("socket.nagle.disable", "TCP_NODELAY on broker connections"),
    number("socket.max.fails", 0, 1000000, "failed requests after which a broker is left"),
    number("connections.max.idle.ms", 0, int_max, "idle connections close after this, 0: never"),
    number("reconnect.backoff.ms", 0, 3600000, "first delay before a reconnect"),
    number("reconnect.backoff.max.ms", 0, 3600000, "longest delay before a reconnect"),
    number("broker.address.ttl", 0, 86400000, "ms that a resolved address is kept"),
    choice("broker.address.family", "any v4 v6", "IP versions used"),
    choice("client.dns.lookup", "use_all_dns_ips resolve_canonical_bootstrap_servers_only",
           "how names with several addresses are used", "2.2.0"),
    number("retry.backoff.ms", 1, 300000, "delay before a request is repeated"),
    number("retry.backoff.max.ms", 1, 300000, "longest delay before a request is repeated", "2.3.0"),
    number("topic.metadata.refresh.interval.ms", -1, 3600000, "how often topics are looked up, -1: never"),
    number("topic.metadata.refresh.fast.interval.ms", 1, 60000,
           "how often topics are looked up while a leader is missing"),
    flag("topic.metadata.refresh.sparse", "look up only the topics in use"),
    number("topic.metadata.propagation.max.ms", 0, 3600000, "how long a new topic may stay unknown"),
    number("metadata.max.age.ms", 1, 86400000, "age after which looked-up topics are dropped"),
    choice("metadata.recovery.strategy", "none rebootstrap", "what happens when no known broker answers",
           "2.10.0"),
    number("metadata.recovery.rebootstrap.trigger.ms", 0, int_max,
           "ms without a broker before metadata.recovery.strategy", "2.11.0"),
    flag("api.version.request", "ask brokers for their versions"),
    number("api.version.request.timeout.ms", 1, 300000, "limit of asking brokers for their versions"),
    flag("log.connection.close", "log closed connections"),
    flag("enable.metrics.push", "client metrics sent to the brokers when they ask", "2.5.0"),
    text("debug", "the library's debug contexts, separated by commas, such as cgrp,fetch"),
    // TLS
    text("ssl.ca.location", "file or directory of the CA certificates that brokers are checked by"),
    text("ssl.ca.pem", "the CA certificates themselves, in PEM"),
    text("ssl.crl.location", "file of revoked certificates"),
    credential(text("ssl.certificate.location", "file of the client's certificate")),
    credential(text("ssl.certificate.pem", "the client's certificate itself, in PEM")),
    file_of_secret("ssl.key.location", "file of the client's private key, for its owner only"),
    secret("ssl.key.pem", "the client's private key itself, in PEM"),
    secret("ssl.key.password", "password of the private key"),
    file_of_secret("ssl.keystore.location",
                   "PKCS#12 file of the client's key and certificate, for its owner only"),
    secret("ssl.keystore.password", "password of the key store"),
    text("ssl.cipher.suites", "cipher suites allowed"),
    text("ssl.curves.list", "curves allowed"),
    text("ssl.sigalgs.list", "signature algorithms allowed"),
    choice("ssl.endpoint.identification.algorithm", "https none", "check of the broker's name"),
    flag("enable.ssl.certificate.verification", "check of the broker's certificate"),
    text("https.ca.location", "CA certificates for token and other HTTPS end points", "2.11.0"),
    text("https.ca.pem", "the CA certificates for those themselves, in PEM", "2.11.0"),
    // SASL
    choice("sasl.mechanism", "PLAIN SCRAM-SHA-256 SCRAM-SHA-512 GSSAPI OAUTHBEARER",
           "how laneway proves who it is"),
    choice("sasl.mechanisms", "PLAIN SCRAM-SHA-256 SCRAM-SHA-512 GSSAPI OAUTHBEARER",
           "another name of sasl.mechanism"),
    credential(text("sasl.username", "user for PLAIN and SCRAM")),
    secret("sasl.password", "password for PLAIN and SCRAM"),
    text("sasl.kerberos.service.name", "the brokers' principal without the host"),
    credential(text("sasl.kerberos.principal", "laneway's principal")),
    file_of_secret("sasl.kerberos.keytab", "key table that `kinit` was run with, for its owner only"),
    number("sasl.kerberos.min.time.before.relogin", 0, 86400000, "ms between ticket refreshes; 0: none"),
    choice("sasl.oauthbearer.method", "default oidc",
           "where tokens come from; oidc needs a librdkafka built with libcurl (Debian 12's is not)"),
    credential(text("sasl.oauthbearer.client.id", "client of the token end point")),
    secret("sasl.oauthbearer.client.secret", "secret of the token end point's client"),
    text("sasl.oauthbearer.token.endpoint.url", "token end point"),
    text("sasl.oauthbearer.scope", "scope asked for"),
    credential(text("sasl.oauthbearer.extensions", "extensions, key=value separated by commas")),
    secret("sasl.oauthbearer.config", "fields of an unsecured token"),
    flag("enable.sasl.oauthbearer.unsecure.jwt", "unsecured tokens, for tests"),
    // Group, session and assignment
    consumer_only(text("group.id", "the consumer group; instances with the same one share the topics")),
    consumer_only(text("group.instance.id",
                       "static membership: a restart within the session keeps its partitions; -1, "
                       "-2 and so on follow with several consumers")),
    consumer_only(
        number("session.timeout.ms", 1, 3600000, "silence after which a classic member is thrown out")),
    consumer_only(number("heartbeat.interval.ms", 1, 3600000, "interval of a classic member's heartbeats")),
    consumer_only(
        number("max.poll.interval.ms", 1, 86400000, "limit of a rebalance's drain; lanes.drain is below it")),
    consumer_only(
        number("coordinator.query.interval.ms", 1, 3600000, "how often the coordinator is looked up")),
    consumer_only(text("partition.assignment.strategy",
                       "range and roundrobin (separated by a comma), or cooperative-sticky")),
    consumer_only(choice("group.protocol", "classic consumer",
                         "who distributes the partitions: members, or brokers (docs/consumer-protocol.md)",
                         "2.4.0")),
    consumer_only(
        text("group.remote.assignor", "the broker's assignor, with group.protocol consumer", "2.4.0")),
    // Fetching
    consumer_only(
        choice("auto.offset.reset", "earliest latest smallest beginning largest end",
               "where a partition without a committed offset begins; after retention a lane goes on "
               "at the log's start, whatever this says",
               "", "earliest")),
    consumer_only(choice("isolation.level", "read_committed read_uncommitted",
                         "are records of open transactions seen")),
    consumer_only(number("fetch.wait.max.ms", 0, 300000, "how long a broker collects fetch.min.bytes")),
    consumer_only(number("fetch.min.bytes", 1, 100000000, "answer of a fetch at least")),
    consumer_only(number("fetch.error.backoff.ms", 0, 300000, "delay after a failed fetch")),
    consumer_only(number("fetch.queue.backoff.ms", 0, 300000, "delay while enough is fetched", "2.2.0")),
    number("receive.message.max.bytes", 1000, int_max, "largest answer of a broker"),
    consumer_only(flag("check.crcs", "check the records' checksums")),
    consumer_only(flag("allow.auto.create.topics", "let brokers create topics that do not exist")),
};

constexpr ClientKey keys_of_producers[] = {
    number("linger.ms", 0, 900000, "how long records wait for others to share a batch with"),
    number("batch.size", 1, int_max, "bytes of a batch, at most"),
    number("batch.num.messages", 1, 1000000, "records of a batch, at most"),
    choice("compression.type", "none gzip snappy lz4 zstd", "compression of batches"),
    number("compression.level", -1, 12, "level of it, -1: the codec's own"),
    number("message.max.bytes", 1000, 1000000000, "largest record that is tried"),
    number("queue.buffering.max.messages", 1, 10000000, "records on their way, at most"),
    number("queue.buffering.max.kbytes", 1, 2097151, "KiB of records on their way, at most"),
    choice("partitioner", "random consistent consistent_random murmur2 murmur2_random fnv1a fnv1a_random",
           "how a key chooses its partition", "", "murmur2_random"),
    number("sticky.partitioning.linger.ms", 0, 900000,
           "how long records without a key stay with one partition"),
};

/// What a file or an editor puts there, and nobody means.
std::optional<std::string> objection_to_text(const ClientKey& key, std::string_view value) {
  if (value.find('\0') != value.npos) return "it holds a zero byte";
  if (value.starts_with("\xef\xbb\xbf")) return "it begins with a byte order mark";
  if (key.name.ends_with(".pem")) return std::nullopt;
  if (value.find_first_of("\r\n") != value.npos) return "it holds a line break";
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

std::optional<std::string_view> key_in_file(std::string_view name) {
  if (!name.ends_with(secret_file_suffix)) return std::nullopt;
  return name.substr(0, name.size() - secret_file_suffix.size());
}

std::span<const ClientKey> producer_keys() { return keys_of_producers; }

const ClientKey* find_producer_key(std::string_view name) {
  for (const ClientKey& key : keys_of_producers)
    if (key.name == name) return &key;
  const auto* key = find_client_key(name);
  return key == nullptr || key->consumer_only ? nullptr : key;
}

std::span<const ClientKey> client_keys() { return keys; }

const ClientKey* find_client_key(std::string_view name) {
  const auto* found =
      std::find_if(std::begin(keys), std::end(keys), [&](const auto& k) { return k.name == name; });
  return found == std::end(keys) ? nullptr : found;
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
