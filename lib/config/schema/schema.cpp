#include "config/schema/schema.h"

#include "config/checks/checks.h"
#include "config/handlers/handlers.h"
#include "config/pools/pool_path.h"
#include "config/schema/pool_rows.h"
#include "config/schema/trace_headers.h"
#include "config/yaml/read_file.h"

namespace laneway::config {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

constexpr Reload order_at_start = Reload::restart("records that are running follow the old order");
constexpr Reload listener_at_start = Reload::restart("the admin server opens its address at the start");
constexpr Reload opened_at_start = Reload::restart("the output is opened at the start");
constexpr Reload exporter_at_start = Reload::restart("the exporter of spans is created at the start");

constexpr Reload topics_at_start = Reload::restart("topics are looked up and created at the start");

constexpr Reload subscribed_at_start =
    Reload::restart("the members of the group have subscribed to the old topics");

Rows topic_rows() {
  return {
      {"topics", subscribed_at_start,
       list("a list of topic names, or one pattern that starts with ^", checked(check_consumed_topic),
            check_topics),
       AT(topics),
       "The topics that laneway consumes. A pattern is a regular expression (POSIX extended syntax), and "
       "also matches topics that are created later. It never finds the topics to which this service writes: "
       "its dead-letter topics, and those of `handler.produce`.",
       "[orders]"},
      {"exclude_topics", subscribed_at_start,
       list("a list of topic names, and of patterns that start with ^", checked(check_topic), check_distinct),
       AT(exclude_topics),
       "Topics that the pattern in `topics` leaves out, such as `[orders-test, \"^orders-old\"]`."},
  };
}

Rows process_rows() {
  return {
      {"consumers", Reload::restart("the members join the group at the start"), count(1, 256), AT(consumers),
       "Number of consumer group members in this process. One member can serve many partitions."},
      {"start_deadline", in_flight, duration(milliseconds(100), hours(24)), AT(start_deadline),
       "How long the start waits for the brokers and the topics. After this time laneway exits with status "
       "69."},
      {"allow_insecure", clients_at_start, flag(), AT(allow_insecure),
       "Allows brokers whose identity is not checked, and unsecured tokens. Silences the warnings about "
       "unencrypted connections."},
  };
}

Rows lane_rows() {
  return {
      workers_row(
          "lanes.workers",
          "Maximum number of records of one partition that run at the same time. With `{ min: 2, "
          "max: 64 }` the number follows the downstream, between `min` and `max` records of the whole "
          "process; `algorithm` is `vegas` by default, or `gradient`, or `aimd`."),
      {"lanes.queue", in_flight, count(0, 1'000'000), OF_POOL(queue),
       "Maximum number of records of one partition that wait for a worker, in addition to the running "
       "records. A lane whose queue is full holds."},
      {"lanes.memory", Reload::restart("the buffers of the client are sized at the start"),
       size(1ULL << 20, 1ULL << 40), AT(lanes.memory),
       "Memory for all fetched, queued and running records of the process. All partitions share it."},
      {"lanes.max_incomplete", in_flight, count(1, 10'000'000), AT(lanes.max_incomplete),
       "Maximum number of records from the oldest unfinished record of a partition to the newest record that "
       "its lane has taken. A lane that reaches the limit holds."},
  };
}

Rows order_rows() {
  return {
      {"lanes.order", order_at_start,
       choice<Order>({{"none", Order::none}, {"key", Order::key}, {"partition", Order::partition}}),
       AT(lanes.order),
       "Which records run one after the other: `none`, the records with the same `key`, or all records of a "
       "`partition`. Order costs throughput: a record that fails then blocks the records after it in the "
       "same order."},
      {"lanes.null_keys", order_at_start,
       choice<NullKeys>({{"unordered", NullKeys::unordered}, {"ordered", NullKeys::ordered}}),
       AT(lanes.null_keys),
       "With `lanes.order: key`, how records without a key run: at the same time, or one after the other."},
      {"lanes.pause_after", in_flight, duration(Duration::zero(), hours(1)), AT(lanes.pause_after),
       "How long a lane holds before it is paused: the client then stops fetching its partition."},
      restarting(
          {"lanes.park_after", in_flight, duration(Duration::zero(), hours(1)), AT(lanes.park_after),
           "How long records wait in their lane for a pool or subscriber that is out, or cannot keep "
           "up, while others of the lane go on. Then they wait in the retry topics, and come back until "
           "they run. 0s means that they stay in their lane; a change from 0 or to 0 needs a restart."},
          "the retry topics are looked up and created at the start",
          [](const ConstScope& scope) { return scope.config.lanes.park_after == Duration::zero(); }),
      {"lanes.drain", in_flight, duration(Duration::zero(), hours(1)), AT(lanes.drain),
       "How long a rebalance or a shutdown waits for running records to finish. Must be shorter than "
       "`max.poll.interval.ms`."},
      {"lanes.drain_queued", in_flight,
       choice<DrainQueued>({{"finish", DrainQueued::finish}, {"return", DrainQueued::give_back}}),
       AT(lanes.drain_queued),
       "What a drain does with queued records: `finish` runs as many as `lanes.drain` allows, `return` "
       "leaves them to the next owner of the partition."},
  };
}

Rows commit_rows() {
  return {
      {"commit.interval", in_flight, duration(milliseconds(10), hours(1)), AT(commit.interval),
       "How often offsets are committed. After a crash, records that finished since the last commit run "
       "again."},
      {"commit.every", in_flight, count(1, 1'000'000'000), AT(commit.every),
       "Number of finished records after which offsets are committed, even if `commit.interval` has not "
       "passed."},
  };
}

Rows operation_rows() {
  return {
      {"journal.file", opened_at_start, text("the path of a file, or \"\" for none"), AT(journal.file),
       "A file that gets one line of JSON for each attempt, for audits. laneway appends to the file, never "
       "shortens it, and opens it again on SIGUSR1 and with each reload."},
      {"admin.enabled", listener_at_start, flag(), AT(admin.enabled),
       "Whether laneway serves its page, metrics, health checks and control over HTTP."},
      {"admin.listen", listener_at_start,
       text("HOST:PORT or HOST:FIRST-LAST; port 0 takes a free port", check_listen), AT(admin.listen),
       "The address of the admin server. Of FIRST-LAST, the first port that no other program has: so several "
       "services run on one machine without a word in their files. An address that is not loopback makes "
       "metrics and status readable for everyone who can reach the address."},
      {"admin.token_file", in_flight, file(read_token), both(AT(admin.token_file), AT(admin.token)),
       "File with a secret token that suspend, resume, skip, send-on, give-up and reload require. Without a "
       "token, only a loopback address accepts these requests."},
      {"admin.ready.stall", in_flight, duration(seconds(1), hours(24)), AT(admin.ready.stall),
       "`/readyz` reports an error when a lane with lag has made no progress for this time."},
      {"admin.pool_aliases", listener_at_start, flag(), AT(admin.pool_aliases),
       "Whether the metrics pool_jobs_total, pool_inflight, pool_queue_depth and pool_duration_seconds are "
       "also served without the prefix laneway_."},
  };
}

Rows output_rows() {
  return {
      {"log.level", in_flight,
       choice<LogLevel>({{"trace", LogLevel::trace},
                         {"debug", LogLevel::debug},
                         {"info", LogLevel::info},
                         {"warn", LogLevel::warn},
                         {"error", LogLevel::error}}),
       AT(log.level), "The lowest level of events that are logged to standard error."},
      {"log.format", opened_at_start,
       choice<LogFormat>({{"text", LogFormat::text}, {"json", LogFormat::json}}), AT(log.format),
       "The format of the log, one event per line: `text` is key=value."},
      {"trace.otlp", exporter_at_start,
       url("a URL that starts with http:// or https://, or \"\" for none", empty_or(check_url)),
       AT(trace.otlp),
       "The OpenTelemetry collector that receives spans by OTLP over HTTP, such as "
       "http://127.0.0.1:4318/v1/traces."},
      {"trace.sample", exporter_at_start, fraction(), AT(trace.sample),
       "Fraction of the records that get spans. A `traceparent` header of a record overrides the fraction "
       "for that record."},
      trace_headers_property(exporter_at_start),
      {"trace.ca_file", exporter_at_start, file(read_certificates), both(AT(trace.ca_file), AT(trace.ca)),
       "File with the CA certificates (PEM) that verify an https:// collector. They replace those of the "
       "system."},
  };
}

Result<RetryDelay> retry_delay(const std::string& text) {
  const auto parsed = within(parse_duration, milliseconds(1), hours(24 * 7))(text);
  if (!parsed) return parsed.error();
  return RetryDelay{text, *parsed};
}

std::string check_delays(const std::vector<RetryDelay>& delays) {
  for (std::size_t i = 1; i < delays.size(); ++i)
    if (delays[i].duration <= delays[i - 1].duration)
      return delays[i].text + " is not longer than " + delays[i - 1].text + " before it";
  return "";
}

Rows retry_rows() {
  return {
      {"retry.attempts", in_flight, count(1, 1'000'000), AT(retry.attempts),
       "Maximum number of attempts at a record that fails while other records succeed. Then the record goes "
       "to the dead-letter topic. Without a dead-letter topic there is no limit."},
      {"retry.backoff", in_flight, duration(milliseconds(1), hours(24)), AT(retry.backoff),
       "Delay before the second attempt. The delay doubles with each further attempt, up to "
       "`retry.max_backoff`."},
      {"retry.max_backoff", in_flight, duration(milliseconds(1), hours(24)), AT(retry.max_backoff),
       "Longest delay between two attempts."},
      {"retry.max_elapsed", in_flight, duration(milliseconds(1), hours(24 * 7)), AT(retry.max_elapsed),
       "Maximum total time of a record's attempts that count and of the delays between them. After this time "
       "the record goes to the dead-letter topic."},
      {"retry.max_waiting", in_flight, count(1, 1'000'000), AT(retry.max_waiting),
       "Maximum number of records of one partition that wait for their next attempt. A lane that reaches the "
       "limit holds."},
      {"retry.topics", topics_at_start,
       list("a list of rising durations from 1ms to 168h, such as [5s, 1m, 10m]", retry_delay, check_delays,
            [](const RetryDelay& delay) { return delay.text; }),
       AT(retry.topics),
       "Delays of further attempts, one attempt per delay. A record waits for them in the topic "
       "<topic>-retry-<delay>, and not in its lane. Needs `lanes.order: none`."},
      {"retry.create", topics_at_start, flag(), AT(retry.create),
       "Whether laneway creates retry topics that are missing at the start. Their retention is that of the "
       "consumed topic plus the delay."},
      {"retry.max_crashes", Reload::restart("crashes are counted from a lane's assignment on"),
       count(0, 1000), AT(retry.max_crashes),
       "How many times the process may crash while a record is running before the record goes to the "
       "dead-letter topic. After two crashes at the same offset, records run alone until the record is "
       "found. 0 disables the counting."},
  };
}

Rows ledger_rows() {
  return {
      {"ledger.max_age", in_flight, duration(Duration::zero(), hours(24 * 7)), AT(ledger.max_age),
       "How long the oldest unfinished record of a partition may hold back the commits before "
       "`ledger.policy` applies. 0s means no limit."},
      {"ledger.policy", in_flight,
       choice<LedgerPolicy>({{"hold", LedgerPolicy::hold}, {"dead_letter", LedgerPolicy::dead_letter}}),
       AT(ledger.policy),
       "What to do when the oldest unfinished record exceeds `ledger.max_age`, or when newer records have "
       "reached `lanes.max_incomplete`: `hold` keeps waiting and logs a warning, `dead_letter` sends the "
       "record to the dead-letter topic if it has already failed."},
  };
}

Rows dead_letter_rows() {
  return {
      {"dead_letter.topic", topics_at_start,
       text("the name of a topic, in which {topic} stands for the record's own topic; \"\" for none",
            check_topic_template),
       AT(dead_letter.topic),
       "The topic that receives records that cannot be processed. Without a dead-letter topic, these records "
       "are retried forever, and block the commits of their partition."},
      {"dead_letter.headers", Reload::restart("the writer of dead letters is created at the start"),
       choice<DeadLetterHeaders>(
           {{"spring", DeadLetterHeaders::spring}, {"connect", DeadLetterHeaders::connect}}),
       AT(dead_letter.headers),
       "Names of the headers with a dead letter's origin and reason: as Spring Kafka or as Kafka Connect "
       "writes them."},
      {"dead_letter.create", topics_at_start, flag(), AT(dead_letter.create),
       "Whether laneway creates dead-letter topics that are missing at the start. Their retention is "
       "unlimited."},
      {"dead_letter.max_rate", in_flight, count(0, 1'000'000), AT(dead_letter.max_rate),
       "How many records per second, averaged over a minute, may be rejected beyond the number of records "
       "that are done. Above this rate rejected records are not dead-lettered, but tried again. 0 means no "
       "limit."},
  };
}

Rows handler_rows() {
  Rows table;
  for (const HandlerSchema* handler : handlers_of_reference()) append(table, handler->properties());
  return table;
}

Rows make_properties() {
  return joined({topic_rows(), handler_rows(), process_rows(), lane_rows(), order_rows(),
                 rate_rows("lanes.rate", "one partition", AT(lanes.rate)), rows_of_pools(), commit_rows(),
                 rate_rows("rate", "this process", AT(rate)), retry_rows(), ledger_rows(), dead_letter_rows(),
                 breaker_rows("breaker"), operation_rows(), output_rows()});
}

}  // namespace

const Rows& properties() {
  static const Rows table = make_properties();
  return table;
}

const Property* find_property(std::string_view path) { return find_named(properties(), schema_name(path)); }

}  // namespace laneway::config
