#include "config/schema/other_names.h"

#include <algorithm>
#include <iterator>

#include "config/text.h"

namespace laneway::config {
namespace {

struct OtherName {
  std::string_view name;
  std::string_view key;
};

/// A name that ends with .* stands for the group as well, and for each key in the group.
constexpr OtherName other_names[] = {
    // Brokers and group
    {"brokers", "kafka.bootstrap.servers"},
    {"broker", "kafka.bootstrap.servers"},
    {"servers", "kafka.bootstrap.servers"},
    {"bootstrap", "kafka.bootstrap.servers"},
    {"bootstrap_servers", "kafka.bootstrap.servers"},
    {"bootstrap.servers", "kafka.bootstrap.servers"},
    {"kafka_brokers", "kafka.bootstrap.servers"},
    {"kafka.brokers", "kafka.bootstrap.servers"},
    {"kafka.broker", "kafka.bootstrap.servers"},
    {"kafka.servers", "kafka.bootstrap.servers"},
    {"kafka.bootstrap", "kafka.bootstrap.servers"},
    {"kafka.addresses", "kafka.bootstrap.servers"},
    {"group", "kafka.group.id"},
    {"group_id", "kafka.group.id"},
    {"groupid", "kafka.group.id"},
    {"group.id", "kafka.group.id"},
    {"consumer_group", "kafka.group.id"},
    {"kafka.group", "kafka.group.id"},
    {"kafka.consumer_group", "kafka.group.id"},
    {"client_id", "kafka.client.id"},
    {"kafka.topic", "topics"},
    {"kafka.topics", "topics"},
    {"input_topics", "topics"},
    {"input_topic", "topics"},
    {"source_topic", "topics"},
    {"input.*", "topics"},
    {"source.*", "topics"},
    {"sources.*", "topics"},
    {"consumer.*", "kafka"},
    {"security.*", "kafka.security.protocol"},
    {"tls.*", "kafka.security.protocol"},
    {"ssl.*", "kafka.security.protocol"},
    {"sasl.*", "kafka.sasl.mechanism"},
    {"kafka.tls", "kafka.security.protocol"},
    {"kafka.sasl", "kafka.sasl.mechanism"},
    {"kafka.username", "kafka.sasl.username"},
    {"kafka.password", "kafka.sasl.password"},
    {"kafka.offset", "kafka.auto.offset.reset"},
    {"auto_offset_reset", "kafka.auto.offset.reset"},
    {"start_offset", "kafka.auto.offset.reset"},
    // The work
    {"webhook.*", "handler.http"},
    {"http.*", "handler.http"},
    {"url", "handler.http.url"},
    {"endpoint", "handler.http.url"},
    {"sink.*", "handler"},
    {"sinks.*", "handler"},
    {"output.*", "handler"},
    {"pipeline.*", "handler"},
    {"processor.*", "handler"},
    {"processors.*", "handler"},
    {"exec.*", "handler.exec"},
    {"command", "handler.exec.command"},
    {"cmd", "handler.exec.command"},
    {"script", "handler.exec.command"},
    {"subprocess.*", "handler.exec"},
    {"plugin.*", "handler.plugin"},
    {"produce.*", "handler.produce"},
    {"producer.*", "handler.produce"},
    {"output_topic", "handler.produce.topic"},
    {"simulate.*", "handler.simulate"},
    {"handler.webhook.*", "handler.http"},
    {"handler.command", "handler.exec.command"},
    {"handler.script", "handler.exec.command"},
    {"handler.url", "handler.http.url"},
    {"handler.kafka", "handler.produce"},
    {"handler.timeout", "handler.http.timeout"},
    {"handler.http.method", "handler.http"},
    {"handler.http.endpoint", "handler.http.url"},
    {"handler.http.batch_size", "handler.http.batch.records"},
    {"handler.http.batch.size", "handler.http.batch.records"},
    {"handler.http.concurrency", "lanes.workers"},
    {"handler.http.retries", "retry.attempts"},
    {"handler.exec.cmd", "handler.exec.command"},
    {"handler.exec.program", "handler.exec.command"},
    {"handler.exec.args", "handler.exec.command"},
    {"handler.produce.client", "handler.produce.kafka"},
    {"handler.plugin.path", "handler.plugin.library"},
    {"timeout", "handler.http.timeout"},
    {"batch.*", "handler.http.batch"},
    {"batch_size", "handler.http.batch.records"},
    // Concurrency
    {"concurrency", "lanes.workers"},
    {"parallelism", "lanes.workers"},
    {"threads", "lanes.workers"},
    {"max_in_flight", "lanes.workers"},
    {"lanes.concurrency", "lanes.workers"},
    {"lanes.parallelism", "lanes.workers"},
    {"lanes.threads", "lanes.workers"},
    {"ordering", "lanes.order"},
    {"lanes.ordering", "lanes.order"},
    {"queue_size", "lanes.queue"},
    {"buffer.*", "lanes.queue"},
    {"memory", "lanes.memory"},
    {"rate_limit.*", "rate.records"},
    {"shutdown_timeout", "lanes.drain"},
    {"commit_interval", "commit.interval"},
    {"auto_commit", "commit.interval"},
    // Failures
    {"dlq.*", "dead_letter.topic"},
    {"dlt.*", "dead_letter.topic"},
    {"dead_letter_queue.*", "dead_letter.topic"},
    {"dead_letters.*", "dead_letter.topic"},
    {"dead_letter_topic", "dead_letter.topic"},
    {"deadletter.*", "dead_letter.topic"},
    {"error_topic", "dead_letter.topic"},
    {"dead_letter.name", "dead_letter.topic"},
    {"retries", "retry.attempts"},
    {"max_retries", "retry.attempts"},
    {"max_attempts", "retry.attempts"},
    {"attempts", "retry.attempts"},
    {"retry.retries", "retry.attempts"},
    {"retry.max_retries", "retry.attempts"},
    {"retry.max_attempts", "retry.attempts"},
    {"retry.count", "retry.attempts"},
    {"retry.delay", "retry.backoff"},
    {"retry.initial_backoff", "retry.backoff"},
    {"retry.timeout", "retry.max_elapsed"},
    {"backoff", "retry.backoff"},
    {"circuit_breaker.*", "breaker"},
    // Operation
    {"logging.*", "log"},
    {"logging.level", "log.level"},
    {"logger.*", "log"},
    {"log_level", "log.level"},
    {"log_format", "log.format"},
    {"loglevel", "log.level"},
    {"metrics.*", "admin.listen"},
    {"prometheus.*", "admin.listen"},
    {"health.*", "admin.listen"},
    {"api.*", "admin.listen"},
    {"port", "admin.listen"},
    {"listen", "admin.listen"},
    {"address", "admin.listen"},
    {"host", "admin.listen"},
    {"server.*", "admin.listen"},
    {"admin.port", "admin.listen"},
    {"admin.host", "admin.listen"},
    {"admin.address", "admin.listen"},
    {"admin.token", "admin.token_file"},
    {"tracing.*", "trace"},
    {"telemetry.*", "trace.otlp"},
    {"otel.*", "trace.otlp"},
    {"otlp.*", "trace.otlp"},
};

bool names(std::string_view pattern, std::string_view path) {
  if (!pattern.ends_with(".*")) return pattern == path;
  pattern.remove_suffix(2);
  return path == pattern || (path.starts_with(pattern) && path[pattern.size()] == '.');
}

}  // namespace

std::optional<std::string> key_for_other_name(std::string_view path) {
  auto wanted = lower(path);
  std::replace(wanted.begin(), wanted.end(), '-', '_');
  const auto* exact = std::find_if(std::begin(other_names), std::end(other_names),
                                   [&](const OtherName& other) { return other.name == wanted; });
  const auto* found = exact != std::end(other_names)
                          ? exact
                          : std::find_if(std::begin(other_names), std::end(other_names),
                                         [&](const OtherName& other) { return names(other.name, wanted); });
  if (found == std::end(other_names)) return std::nullopt;
  return std::string(found->key);
}

}  // namespace laneway::config
