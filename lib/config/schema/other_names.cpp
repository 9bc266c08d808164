#include "config/schema/other_names.h"

#include "config/text.h"

namespace laneway::config {
namespace {

struct OtherNames {
  std::string_view key;
  std::string_view names;  ///< separated by spaces
};

/// Names are in lower case, with underscores between words. A name that ends with .* stands for the group as
/// well, and for each key in the group.
constexpr OtherNames other_names[] = {
    // Brokers and group
    {"kafka.bootstrap.servers",
     "brokers broker servers bootstrap bootstrap_servers bootstrap.servers kafka_brokers kafka.brokers "
     "kafka.broker kafka.servers kafka.bootstrap kafka.addresses"},
    {"kafka.group.id",
     "group group_id groupid group.id consumer_group kafka.group kafka.consumer_group application.id "
     "application_id kafka.group_id"},
    {"kafka.client.id", "client_id"},
    {"kafka.group.instance.id", "group_instance_id"},
    {"topics",
     "kafka.topic kafka.topics input_topics input_topic source_topic input.* source.* sources.* inputs.* "
     "topics_pattern topic_pattern topics.regex topics_regex subscribe subscription"},
    {"exclude_topics", "topics.exclude topics_exclude topic_exclude"},
    {"kafka", "consumer.*"},
    {"kafka.security.protocol", "security.* tls.* ssl.* kafka.tls"},
    {"kafka.sasl.mechanism", "sasl.* kafka.sasl auth.*"},
    {"kafka.sasl.username", "kafka.username username"},
    {"kafka.sasl.password", "kafka.password password"},
    {"kafka.auto.offset.reset",
     "kafka.offset auto_offset_reset start_offset start_from_oldest from_beginning initial_offset "
     "offset_reset"},
    // The work
    {"handler.http", "webhook.* http.* handler.webhook.* handler.http.method"},
    {"handler.http.url", "url endpoint handler.url handler.http.endpoint"},
    {"handler", "sink.* sinks.* outputs.* handler.type output.* pipeline.* processor.* processors.*"},
    {"handler.exec.command",
     "worker_command command cmd script handler.command handler.script handler.exec.cmd handler.exec.program "
     "handler.exec.args"},
    {"handler.exec", "handler.shell handler.python exec.* subprocess.*"},
    {"handler.log", "handler.stdout stdout.*"},
    {"handler.http.authorization_file", "handler.http.token handler.http.auth handler.http.authorization"},
    {"handler.http.ca_file", "handler.http.tls"},
    {"handler.http.connections", "handler.http.pool handler.http.max_connections"},
    {"handler.http.batch.records",
     "handler.http.batch.max handler.http.batch_size handler.http.batch.size batch_size"},
    {"handler.http.batch.linger", "handler.http.batch.timeout"},
    {"handler.simulate.sleep", "handler.simulate.delay handler.simulate.latency"},
    {"handler.produce.transactional", "exactly_once processing_guarantee transactional"},
    {"handler.plugin", "plugin.*"},
    {"handler.produce", "produce.* producer.* handler.kafka"},
    {"handler.produce.topic", "output_topic"},
    {"handler.simulate", "simulate.*"},
    {"handler.http.timeout", "handler.timeout timeout lanes.timeout"},
    {"handler.produce.kafka", "handler.produce.client"},
    {"handler.plugin.library", "handler.plugin.path"},
    {"handler.http.batch", "batch.*"},
    // Concurrency
    {"lanes.workers",
     "handler.http.concurrency concurrency parallelism threads max_in_flight worker pool_size "
     "consumer_threads num.stream.threads tasks.max max_tasks lanes.concurrency lanes.parallelism "
     "lanes.threads"},
    {"consumers", "instances"},
    {"lanes.queue",
     "prefetch max_poll_records max.poll.records kafka.max.poll.records lanes.queue_size queue_size "
     "buffer.*"},
    {"rate.records", "throttle.* rate_limit.*"},
    {"commit.interval", "ack_mode commit_interval auto_commit"},
    {"lanes.drain", "shutdown.* drain drain_timeout shutdown_timeout"},
    {"lanes.order", "ordering lanes.ordering"},
    {"lanes.memory", "memory"},
    // Failures
    {"dead_letter.topic",
     "dlq.* dlt.* dead_letter_queue.* dead_letters.* dead_letter_topic deadletter.* error_topic dlq_topic "
     "errors.deadletterqueue.* errors.dead_letter_queue.* errors.tolerance dead_letter.enabled "
     "dead_letter.suffix dead_letter.topic_name dead_letter.name"},
    {"retry.attempts",
     "handler.http.retries retries max_retries max_attempts attempts retry.retries retry.max_retries "
     "retry.max_attempts retry.count retry.max retry.limit"},
    {"retry", "errors.retry.* retry_policy.*"},
    {"log", "errors.log.* logging.* logger.*"},
    {"retry.backoff",
     "retry.delay back_off.* retry.interval retry.initial_delay retry.initial_backoff backoff"},
    {"retry.max_backoff", "retry.max_delay retry.max_interval"},
    {"retry.max_elapsed", "retry.timeout"},
    {"breaker", "circuit_breaker.*"},
    {"breaker.failures", "breaker.threshold"},
    {"breaker.probe", "breaker.cooldown breaker.timeout breaker.reset"},
    // Operation
    {"log.level", "logging.level log_level loglevel verbose"},
    {"log.format", "log_format log.json"},
    {"admin.listen",
     "metrics.* prometheus.* health.* health_check.* healthcheck.* liveness.* readiness.* admin.bind "
     "admin.url api.* port listen address host server.* admin.port admin.host admin.address"},
    {"admin.token_file", "admin.password admin.token"},
    {"trace", "tracing.*"},
    {"trace.otlp", "telemetry.* otel.* otlp.* opentelemetry.* jaeger.* zipkin.* trace.endpoint trace.url"},
    {"trace.sample", "trace.ratio trace.sample_rate"},
    {"journal.file", "journal.path audit.*"},
};

/// "maxRetries" and "max-retries" are max_retries.
std::string snake_case(std::string_view path) {
  std::string out;
  for (const char c : path) {
    const bool capital = c >= 'A' && c <= 'Z';
    if (capital && !out.empty() && out.back() >= 'a' && out.back() <= 'z') out += '_';
    out += c == '-' ? '_' : capital ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return out;
}

bool names(std::string_view pattern, std::string_view path) {
  if (!pattern.ends_with(".*")) return pattern == path;
  pattern.remove_suffix(2);
  return path == pattern || (path.starts_with(pattern) && path[pattern.size()] == '.');
}

}  // namespace

std::optional<std::string> key_for_other_name(std::string_view path) {
  const auto wanted = snake_case(path);
  const auto find = [](const auto& is_wanted) -> std::optional<std::string> {
    for (const auto& [key, others] : other_names)
      for (const auto& name : split(others, " "))
        if (is_wanted(name)) return std::string(key);
    return std::nullopt;
  };
  const auto exact = find([&](std::string_view name) { return name == wanted; });
  return exact ? exact : find([&](std::string_view name) { return names(name, wanted); });
}

}  // namespace laneway::config
