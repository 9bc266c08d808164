// The settings of a service as plain data: the schema is this struct, with every default in it. See the
// loader (config/loader.h) for how a file, the environment and --set become one, and config/units.h for
// durations and sizes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/time.h"

namespace laneway::config {

/// Where a setting was written, for messages: "config/http.yaml:3:5", "--set lanes.workers",
/// "LANEWAY_LANES__WORKERS".
using Origin = std::string;

/// A client key with its value and where it was written. `secret` values are never printed.
struct ClientSetting {
  std::string value;
  Origin origin;
  bool secret = false;
};

/// `handler.log`: prints each record to standard output; for looking.
struct LogSettings {};

/// `handler.simulate`: behaves like work, to try settings with. Which records fail or hang follows from
/// topic, partition, offset and attempt alone, so a run can be repeated.
struct SimulateSettings {
  /// Sleeping, as a fixed duration or (where p99 is set) log-normal through p50 and p99.
  struct Sleep {
    Duration p50 = milliseconds(10);
    std::optional<Duration> p99;
  } sleep;
  Duration spin{};  ///< of CPU besides
  double fail = 0;  ///< fraction of attempts answered retry
  double hang = 0;  ///< fraction of attempts that hang until they are stopped
  std::vector<std::int32_t>
      hang_partitions;  ///< partitions all of whose attempts hang until they are stopped
  Duration timeout = seconds(30);
};

enum class BatchFormat : std::uint8_t { json, ndjson };

/// What a status of a web service means for its record.
enum class StatusVerdict : std::uint8_t { done, retry, reject, unavailable };
/// By status (404), or by class (5 for 5xx).
using StatusVerdicts = std::map<std::uint16_t, StatusVerdict>;

/// `handler.http`: a POST for each record, or for several.
struct HttpSettings {
  std::string url;
  Duration timeout = seconds(10);
  std::string content_type = "application/octet-stream";
  /// Record headers passed on as request headers, by name.
  std::vector<std::string> headers;
  Duration max_retry_after = seconds(60);  ///< cap on what a server may ask for
  StatusVerdicts statuses;                 ///< instead of the table in lib/handler/http/http_answer.h
  std::string authorization_file;          ///< empty: none
  std::string authorization;               ///< what is in it, the header's value; secret
  std::string ca_file;                     ///< empty: the system's certificates
  std::string ca;                          ///< what is in it, PEM
  /// Requests at the server at once, and so connections; below the usual limit of 1,024 open files.
  std::uint32_t connections = 512;
  struct Batch {
    std::uint32_t records = 0;  ///< of one request at most; 0: no batches, the body is a record's value
    Duration linger = milliseconds(10);  ///< the first record of a request waits so long for others
    std::uint64_t bytes = 1 << 20;       ///< a request is complete when it has so many
    BatchFormat format = BatchFormat::json;
  } batch;
};

/// How records travel to a program of `handler.exec` and verdicts back; see lib/handler/exec/exec_frame.h.
enum class Framing : std::uint8_t { json, binary };

/// `handler.exec`: a program that stays, and reads records.
struct ExecSettings {
  std::vector<std::string> command;  ///< absolute path and arguments; there is no shell
  Framing framing = Framing::json;
  Duration timeout = seconds(30);
};

/// `handler.plugin`: a shared library does the work.
struct PluginSettings {
  std::string path;  ///< of the shared library, absolute
  Duration timeout = seconds(30);
  std::string config = "{}";        ///< the section handler.plugin.config as JSON
  std::string shown_config = "{}";  ///< the same as YAML without what may be secret
};

/// `handler.produce`: writes each record to a topic; done when all in-sync replicas have it.
struct ProduceSettings {
  enum class Partition : std::uint8_t { by_key, keep };
  enum class Timestamp : std::uint8_t { keep, now };

  /// `{topic}` in it stands for the record's own topic.
  std::string topic;
  /// A record header that names the topic instead, one of `topics`; empty: none.
  std::string topic_header;
  /// The same by a text in the value, which is JSON: where it is (RFC 6901); empty: none.
  std::string topic_field;
  std::vector<std::string> topics;
  bool keep_key = true;
  /// A record header whose value is the key instead; empty: none.
  std::string key_header;
  /// The same by a text or a whole number in the value, as `topic_field`.
  std::string key_field;
  Partition partition = Partition::by_key;
  bool keep_headers = true;
  /// Other names for headers that are kept; an empty one: the header is left out.
  std::map<std::string, std::string> rename_headers;
  Timestamp timestamp = Timestamp::keep;
  /// Records are written, and their offsets committed, in transactions.
  bool transactional = false;
  /// A record that is not acknowledged so long is unavailable.
  Duration timeout = seconds(30);
  /// The producer's own client keys, beside and before those of `kafka`: another cluster, batching,
  /// compression.
  std::map<std::string, ClientSetting> client;

  bool other_cluster() const { return client.contains("bootstrap.servers"); }
};

using HandlerSettings =
    std::variant<LogSettings, SimulateSettings, HttpSettings, ExecSettings, PluginSettings, ProduceSettings>;

enum class Order : std::uint8_t { none, key, partition };
/// Order by key: what records without a key are.
enum class NullKeys : std::uint8_t { unordered, ordered };
enum class DrainQueued : std::uint8_t { finish, give_back };  // `finish`, `return` in the file

/// A rate limit; 0: none.
struct Rate {
  std::uint64_t records = 0;    ///< a second
  std::uint64_t bytes = 0;      ///< of keys and values, a second
  Duration burst = seconds(1);  ///< what comes in so long may go out at once
};

struct Lanes {
  std::uint32_t workers = 8;
  std::uint32_t queue = 256;
  Order order = Order::none;
  NullKeys null_keys = NullKeys::unordered;
  std::uint64_t memory = 256ULL << 20;
  Duration pause_after = seconds(1);
  Duration drain = seconds(20);
  DrainQueued drain_queued = DrainQueued::finish;
  std::uint32_t max_incomplete = 10000;
  Rate rate;  ///< of one partition
};

enum class LedgerPolicy : std::uint8_t { hold, dead_letter };
/// What holds back the commits of a partition: its oldest record that is not done.
struct Ledger {
  Duration max_age = std::chrono::minutes(10);  ///< 0: no limit
  LedgerPolicy policy = LedgerPolicy::hold;
};
struct Commit {
  Duration interval = seconds(1);
  std::uint64_t every = 10000;
};

/// The delay of a retry topic.
struct RetryDelay {
  std::string text;  ///< as it was written: a part of the topic's name
  Duration duration{};
};

struct Retry {
  std::uint32_t attempts = 8;  ///< in all; without dead letters there is no limit
  Duration max_elapsed = std::chrono::minutes(5);
  Duration backoff = milliseconds(500);  ///< with the attempts: half a minute at least
  Duration max_backoff = seconds(30);
  std::uint32_t max_waiting = 1000;
  /// Retry topics of every topic, from the shortest delay to the longest; none: there are none.
  std::vector<RetryDelay> topics;
  bool create = true;             ///< retry topics that are missing at the start
  std::uint32_t max_crashes = 3;  ///< 0: they are not counted
};

/// The headers that describe where a dead letter came from and why.
enum class DeadLetterHeaders : std::uint8_t { spring, connect };

struct DeadLetter {
  /// "{topic}" stands for the record's own. Empty: there is none, and a record that fails is retried for
  /// ever.
  std::string topic;
  DeadLetterHeaders headers = DeadLetterHeaders::spring;
  bool create = true;          ///< topics that are missing at the start
  std::uint64_t max_rate = 5;  ///< rejected records a second, over a minute; 0: no limit

  bool enabled() const { return !topic.empty(); }
};
inline constexpr const char* default_dead_letter_topic = "{topic}-dlt";

struct Breaker {
  std::uint32_t failures = 5;  ///< 0: there is no breaker
  Duration window = seconds(30);
  Duration probe = seconds(5);
  Duration slow{};  ///< a call that takes longer counts as a failure; 0: none does
};

struct Journal {
  std::string file;  ///< empty: off
};

struct Admin {
  bool enabled = true;
  std::string listen = "127.0.0.1:9644";
  std::string token_file;  ///< empty: what changes something needs no token, on a loopback address only
  std::string token;       ///< what the file held; never printed
  struct Ready {
    Duration stall = seconds(60);
  } ready;
  bool pool_aliases = false;  ///< pool_jobs_total and so on without the prefix, too
};

enum class LogLevel : std::uint8_t { trace, debug, info, warn, error };
enum class LogFormat : std::uint8_t { text, json };

struct Log {
  LogLevel level = LogLevel::info;
  LogFormat format = LogFormat::text;
};

/// Spans of the attempts, for a collector of OpenTelemetry.
struct Trace {
  std::string otlp;      ///< URL that takes OTLP over HTTP; empty: off
  double sample = 0.01;  ///< fraction of the records whose header does not say whether they are sampled
};

struct Config {
  /// librdkafka's own keys; bootstrap.servers and group.id are there.
  std::map<std::string, ClientSetting> kafka;
  /// Names, or one pattern that starts with ^.
  std::vector<std::string> topics;
  HandlerSettings handler = LogSettings{};
  std::uint32_t consumers = 1;
  Duration start_deadline = seconds(60);
  /// Permits brokers whose identity is not checked, and unsecured tokens.
  bool allow_insecure = false;
  Lanes lanes;
  Commit commit;
  Ledger ledger;
  Rate rate;  ///< of the process
  Retry retry;
  DeadLetter dead_letter;
  Breaker breaker;
  Journal journal;
  Admin admin;
  Log log;
  Trace trace;

  bool topics_by_pattern() const { return !topics.empty() && topics.front().starts_with('^'); }
  const std::string& client(const std::string& key) const {
    static const std::string none;
    const auto found = kafka.find(key);
    return found == kafka.end() ? none : found->second.value;
  }
};

}  // namespace laneway::config
