#include "kafka/client/client_support.h"

#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "config/client/group_protocol.h"
#include "config/text.h"
#include "kafka/client/handle.h"

namespace laneway::kafka {
namespace {

constexpr int with_queue_backoff = 0x020200ff;
constexpr int scram_mended = 0x020601ff;        // issue 4895 of librdkafka
constexpr int cooperative_mended = 0x020601ff;  // issues 4381, 4528 and 4800
// Releases that stop consumers: with a failed assertion, or with an endless loop of restarts.
constexpr int unusable[] = {0x020500ff, 0x020a00ff};

std::string release(int version) {
  const auto part = [&](int shift) { return std::to_string(version >> shift & 0xff); };
  return part(24) + '.' + part(16) + '.' + part(8);
}

std::string name_of(const ClientLibrary& client) { return "librdkafka " + release(client.version); }

bool has_feature(const ClientLibrary& client, std::string_view wanted) {
  for (const auto& feature : config::split(client.features, ","))
    if (feature == wanted) return true;
  return false;
}

/// The first of these keys (a name or an alias) that was given; nullptr if none was given.
const config::ClientSetting* given(const ClientSettings& settings, std::initializer_list<const char*> keys) {
  for (const char* key : keys)
    if (const auto found = settings.find(key); found != settings.end()) return &found->second;
  return nullptr;
}

std::string lower_value(const config::ClientSetting* setting) {
  return setting == nullptr ? std::string() : config::lower(setting->value);
}

Error refusal(const config::ClientSetting& setting, const char* key, const std::string& what,
              const std::string& remedy) {
  return {ErrorKind::configuration, setting.origin + ": kafka." + key + ": " + what,
          remedy + ", or build laneway with -DLANEWAY_LIBRDKAFKA=bundled"};
}

std::optional<Error> unsupported_protocol(const ClientSettings& settings, const ClientLibrary& client) {
  const auto& protocol = config::group_protocol(settings);
  if (!protocol.by_brokers || client.version >= protocol.by_brokers->client_since) return std::nullopt;
  return refusal(settings.at(protocol.key), protocol.key,
                 name_of(client) + " cannot take part in consumer groups of this protocol",
                 "link librdkafka " + release(protocol.by_brokers->client_since) +
                     " or newer, set group.protocol: classic");
}

std::optional<Error> unsupported_login(const ClientSettings& settings, const ClientLibrary& client) {
  const auto* protocol = given(settings, {"security.protocol"});
  if (!lower_value(protocol).starts_with("sasl_")) return std::nullopt;
  const auto* named = given(settings, {"sasl.mechanism", "sasl.mechanisms"});
  const auto mechanism = named == nullptr ? "gssapi" : lower_value(named);
  const auto library = name_of(client);
  if (mechanism.starts_with("scram-") && client.version < scram_mended)
    return refusal(
        *named, "sasl.mechanism",
        library + " cannot log in by " + named->value +
            ": brokers since Kafka 3.7.2, 3.8.1 and 3.9.0 refuse its SCRAM messages, even with the right "
            "password",
        "link librdkafka 2.6.1 or newer");
  if (mechanism == "gssapi" && !has_feature(client, "sasl_gssapi"))
    return refusal(named == nullptr ? *protocol : *named, "sasl.mechanism",
                   "this " + library + " was built without Kerberos (GSSAPI)",
                   "link a librdkafka that was built with Cyrus SASL");
  const auto* method = given(settings, {"sasl.oauthbearer.method"});
  if (lower_value(method) == "oidc" && !has_feature(client, "oidc"))
    return refusal(*method, "sasl.oauthbearer.method",
                   "this " + library + " was built without OIDC, so it can fetch no token",
                   "link librdkafka 1.9.0 or newer that was built with libcurl");
  return std::nullopt;
}

}  // namespace

ClientLibrary linked_client() {
  std::array<char, 512> features{};
  std::size_t size = features.size();
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  const bool known = rd_kafka_conf_get(conf, "builtin.features", features.data(), &size) == RD_KAFKA_CONF_OK;
  rd_kafka_conf_destroy(conf);
  return {rd_kafka_version(), known ? features.data() : ""};
}

std::optional<Error> unsupported(const ClientSettings& settings, const ClientLibrary& client) {
  if (auto refused = unsupported_protocol(settings, client)) return refused;
  return unsupported_login(settings, client);
}

Result<std::vector<std::string>> version_warnings(const ClientSettings& settings,
                                                  const ClientLibrary& client) {
  const auto library = name_of(client);
  if (std::find(std::begin(unusable), std::end(unusable), client.version) != std::end(unusable))
    return Error{ErrorKind::fatal, library + " has a defect that stops consumers",
                 "install 2.5.3, 2.10.1 or another version"};
  std::vector<std::string> warnings;
  const auto& protocol = config::group_protocol(settings);
  if (client.version < cooperative_mended && protocol.incremental && !protocol.by_brokers)
    warnings.push_back(library +
                       " has known defects with cooperative-sticky (fixed in 2.6.1); range is safer");
  if (protocol.by_brokers && client.version < protocol.by_brokers->client_rejoins_since)
    warnings.push_back(library + " may not rejoin the group with " + protocol.setting() +
                       " after max.poll.interval.ms was exceeded (fixed in " +
                       release(protocol.by_brokers->client_rejoins_since) + ")");
  return warnings;
}

bool has_queue_backoff(const ClientLibrary& client) { return client.version >= with_queue_backoff; }

Status check_settings(const ClientSettings& settings) {
  auto unconnected = settings;
  unconnected.erase("bootstrap.servers");
  auto conf = make_conf(unconnected);
  if (!conf) return conf.error();
  if (!makes_no_contact(settings)) return {};
  const auto handle = make_handle(RD_KAFKA_CONSUMER, std::move(conf).value());
  return handle ? Status() : handle.error();
}

std::string library_version() { return rd_kafka_version_str(); }

bool is_timeout(const Error& error) {
  return error.kind == ErrorKind::timeout || error.message.find("imed out") != std::string::npos;
}

}  // namespace laneway::kafka
