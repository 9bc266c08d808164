#include "kafka/client/handle.h"

#include <syslog.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "config/client/client_keys.h"
#include "config/text.h"
#include "kafka/access/tls_trouble.h"
#include "kafka/client/client_support.h"
#include "telemetry/log.h"
#include "tls/oldest_version.h"

namespace laneway::kafka {
namespace {

/// The library runs this command with system(3), on the thread that keeps the membership. A KDC that does not
/// answer would cost the membership, because kinit itself waits for half a minute.
constexpr const char* kinit =
    "timeout 10 kinit -R -t \"%{sasl.kerberos.keytab}\" -k \"%{sasl.kerberos.principal}\" || "
    "timeout 10 kinit -t \"%{sasl.kerberos.keytab}\" -k \"%{sasl.kerberos.principal}\"";

telemetry::Level level_of(int syslog_level) {
  if (syslog_level <= LOG_ERR) return telemetry::Level::error;
  if (syslog_level == LOG_WARNING) return telemetry::Level::warn;
  return syslog_level < LOG_DEBUG ? telemetry::Level::info : telemetry::Level::debug;
}

/// In lower case. Includes the default; empty if there is no login.
std::string mechanism_of(const ClientSettings& settings) {
  const auto value = [&](const char* key) { return config::lower(setting_of(settings, key)); };
  if (!value("security.protocol").starts_with("sasl_")) return {};
  const auto named = value("sasl.mechanism") + value("sasl.mechanisms");
  return named.empty() ? "gssapi" : named;
}

}  // namespace

void Release::operator()(rd_kafka_t* client) const { rd_kafka_destroy(client); }
void Release::operator()(rd_kafka_queue_t* queue) const { rd_kafka_queue_destroy(queue); }
void Release::operator()(const rd_kafka_metadata_t* metadata) const { rd_kafka_metadata_destroy(metadata); }

void pass_on_log(const rd_kafka_t*, int level, const char* facility, const char* text) {
  // The error that follows includes what is wrong with a certificate.
  if (std::strcmp(facility, "SSLCERTVRFY") == 0) level = LOG_DEBUG;
  const telemetry::Fields fields = {{"source", "librdkafka"}, {"facility", facility}};
  // Without brokers the library repeats the same error twenty times a second.
  if (level <= LOG_WARNING)
    telemetry::log_repeating(level_of(level), text, explained(text), fields);
  else
    telemetry::log(level_of(level), explained(text), fields);
}

Result<ConfPtr> make_conf(const ClientSettings& settings) {
  if (auto refused = unsupported(settings, linked_client())) return *refused;
  ConfPtr conf(rd_kafka_conf_new());
  char reason[512];
  for (const auto& [key, setting] : settings) {
    if (rd_kafka_conf_set(conf.get(), key.c_str(), setting.value.c_str(), reason, sizeof reason) !=
        RD_KAFKA_CONF_OK)
      return Error{
          ErrorKind::configuration,
          setting.origin + ": kafka." + key + ": " + (setting.secret ? "the value is not accepted" : reason),
          std::string("this is librdkafka ") + rd_kafka_version_str()};
  }
  // Also bounds what a batch of zstd may be decompressed to, so the library's 100 MB would make a large batch
  // unreadable. Memory is taken only for batches that need it.
  set_default(settings, conf.get(), "receive.message.max.bytes", config::default_receive_bytes);
  if (mechanism_of(settings) == "gssapi") set_own(conf.get(), "sasl.kerberos.kinit.cmd", kinit);
  rd_kafka_conf_set_log_cb(conf.get(), pass_on_log);
  note_certificates(conf.get());
  return conf;
}

void set_own(rd_kafka_conf_t* conf, const char* key, const std::string& value) {
  char reason[512];
  if (rd_kafka_conf_set(conf, key, value.c_str(), reason, sizeof reason) != RD_KAFKA_CONF_OK)
    telemetry::error("client setting refused", {{"key", key}, {"value", value}, {"error", reason}});
}

void set_default(const ClientSettings& settings, rd_kafka_conf_t* conf, const char* key,
                 const std::string& value) {
  if (!settings.contains(key)) set_own(conf, key, value);
}

Result<HandlePtr> make_handle(rd_kafka_type_t type, ConfPtr conf) {
  if (auto modern = tls::refuse_old_versions(); !modern)
    return modern.error();  // the client has no key for it
  char reason[512];
  rd_kafka_t* handle = rd_kafka_new(type, conf.get(), reason, sizeof reason);
  if (handle == nullptr)
    return Error{ErrorKind::configuration, std::string("the Kafka client refuses its settings: ") + reason,
                 ""};
  (void)conf.release();  // the handle owns it now
  return HandlePtr(handle);
}

Result<HandlePtr> open_consumer(const ClientSettings& settings, OwnKeys keys,
                                const std::function<void(rd_kafka_conf_t*)>& prepare) {
  auto conf = make_conf(settings);
  if (!conf) return conf.error();
  set_own(conf->get(), "enable.auto.commit", "false");
  set_own(conf->get(), "enable.auto.offset.store", "false");
  for (const auto& [key, value] : keys) set_own(conf->get(), key, value);
  if (prepare) prepare(conf->get());
  auto handle = make_handle(RD_KAFKA_CONSUMER, std::move(conf).value());
  if (handle) rd_kafka_poll_set_consumer(handle->get());
  return handle;
}

bool makes_no_contact(const ClientSettings& settings) {
  const auto mechanism = mechanism_of(settings);
  if (mechanism == "gssapi") return false;
  return mechanism != "oauthbearer" ||
         config::lower(setting_of(settings, "sasl.oauthbearer.method")) != "oidc";
}

ListPtr to_list(const std::vector<TopicPartition>& partitions) {
  ListPtr list(rd_kafka_topic_partition_list_new(static_cast<int>(partitions.size())));
  for (const auto& p : partitions)
    rd_kafka_topic_partition_list_add(list.get(), p.topic.c_str(), p.partition);
  return list;
}

ListPtr to_list(const TopicPartition& partition, std::int64_t offset) {
  ListPtr list = to_list(std::vector{partition});
  list->elems[0].offset = offset;
  return list;
}

ListPtr to_list(const std::vector<std::string>& topics) {
  ListPtr list(rd_kafka_topic_partition_list_new(static_cast<int>(topics.size())));
  for (const auto& topic : topics)
    rd_kafka_topic_partition_list_add(list.get(), topic.c_str(), RD_KAFKA_PARTITION_UA);
  return list;
}

ListPtr to_list(const std::vector<CommittedOffset>& offsets) {
  ListPtr list(rd_kafka_topic_partition_list_new(static_cast<int>(offsets.size())));
  for (const auto& o : offsets) {
    auto* e = rd_kafka_topic_partition_list_add(list.get(), o.partition.topic.c_str(), o.partition.partition);
    e->offset = o.offset;
    if (o.metadata.empty()) continue;
    e->metadata = std::malloc(o.metadata.size());  // the list frees it
    std::memcpy(e->metadata, o.metadata.data(), o.metadata.size());
    e->metadata_size = o.metadata.size();
  }
  return list;
}

std::vector<TopicPartition> from_list(const rd_kafka_topic_partition_list_t& list) {
  std::vector<TopicPartition> partitions;
  partitions.reserve(static_cast<std::size_t>(list.cnt));
  for (int i = 0; i < list.cnt; ++i) partitions.push_back({list.elems[i].topic, list.elems[i].partition});
  return partitions;
}

std::vector<CommittedOffset> committed_offsets(const rd_kafka_topic_partition_list_t& list) {
  std::vector<CommittedOffset> offsets;
  for (int i = 0; i < list.cnt; ++i) {
    const auto& e = list.elems[i];
    if (e.err != RD_KAFKA_RESP_ERR_NO_ERROR) continue;
    const auto* metadata = static_cast<const char*>(e.metadata);
    offsets.push_back({{e.topic, e.partition},
                       e.offset < 0 ? no_offset : e.offset,
                       metadata == nullptr ? std::string() : std::string(metadata, e.metadata_size)});
  }
  return offsets;
}

int to_ms(Duration duration) {
  const auto ms = duration_cast<milliseconds>(duration).count();
  return static_cast<int>(std::clamp<decltype(ms)>(ms, 0, std::numeric_limits<int>::max()));
}

const char* missing_right(rd_kafka_resp_err_t code) {
  switch (code) {
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
      return "the user needs Read on the topic";
    case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
      return "the user needs Read on the group";
    case RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED:
    case RD_KAFKA_RESP_ERR__AUTHENTICATION:
      return "check kafka.sasl.mechanism, sasl.username and sasl.password";
    default:
      return nullptr;
  }
}

std::string error_text(rd_kafka_resp_err_t code, const char* words) {
  const char* right = missing_right(code);
  const std::string text = words == nullptr ? rd_kafka_err2str(code) : explained(words);
  const bool says_what_to_do = words != nullptr && text != words;
  return right == nullptr || says_what_to_do ? text : text + " (" + right + ")";
}

Error group_denied(const std::string& group) {
  return {ErrorKind::unavailable, "group " + group + ": access denied",
          missing_right(RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED)};
}

std::string setting_of(const ClientSettings& settings, const std::string& key) {
  const auto found = settings.find(key);
  return found == settings.end() ? std::string() : found->second.value;
}

Error client_error(rd_kafka_resp_err_t code, const std::string& what) {
  const bool late = code == RD_KAFKA_RESP_ERR__TIMED_OUT;
  return {late ? ErrorKind::timeout : ErrorKind::unavailable, what + ": " + error_text(code), ""};
}

Status to_status(rd_kafka_resp_err_t code, const std::string& what) {
  if (code == RD_KAFKA_RESP_ERR_NO_ERROR) return {};
  return client_error(code, what);
}

Status to_status(const ErrorPtr& error, const std::string& what) {
  return to_status(error ? rd_kafka_error_code(error.get()) : RD_KAFKA_RESP_ERR_NO_ERROR, what);
}

Status to_status(rd_kafka_resp_err_t code, const rd_kafka_topic_partition_list_t& list,
                 const std::string& what) {
  const bool one = code == RD_KAFKA_RESP_ERR_NO_ERROR && list.cnt == 1;
  return to_status(one ? list.elems[0].err : code, what);
}

bool passes(rd_kafka_resp_err_t code) {
  constexpr std::array passing{RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS,
                               RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE,
                               RD_KAFKA_RESP_ERR_NOT_COORDINATOR,
                               RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT,
                               RD_KAFKA_RESP_ERR__WAIT_COORD,
                               RD_KAFKA_RESP_ERR__TRANSPORT,
                               RD_KAFKA_RESP_ERR__TIMED_OUT};
  return std::find(passing.begin(), passing.end(), code) != passing.end();
}

}  // namespace laneway::kafka
