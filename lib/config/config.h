// The settings of a service as plain data, with every default; handler_settings.h has those of the handlers.
// The loader (config/loader.h) makes a Config of a file, the environment and --set; config/units.h describes
// durations and sizes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "config/client/client_setting.h"
#include "config/handler_settings.h"
#include "config/limits.h"
#include "config/pools.h"

namespace laneway::config {

enum class Order : std::uint8_t { none, key, partition };
/// With order by key: how records without a key run.
enum class NullKeys : std::uint8_t { unordered, ordered };
enum class DrainQueued : std::uint8_t { finish, give_back };  // `finish`, `return` in the file

struct LaneSettings {
  Order order = Order::none;
  NullKeys null_keys = NullKeys::unordered;
  std::uint64_t memory = 256ULL << 20;
  Duration pause_after = seconds(1);
  Duration drain = seconds(20);
  DrainQueued drain_queued = DrainQueued::finish;
  std::uint32_t max_incomplete = 10000;
  /// How long records of a pool or subscriber that is out, or cannot keep up, stay in the lane (parking.h).
  /// 0: until they run.
  Duration park_after = seconds(10);
  Rate rate;  ///< of one partition
};

enum class LedgerPolicy : std::uint8_t { hold, dead_letter };
/// The oldest unfinished record of a partition, which holds back the commits of the partition.
struct LedgerSettings {
  Duration max_age = std::chrono::minutes(10);  ///< 0 means no limit
  LedgerPolicy policy = LedgerPolicy::hold;
};
struct Commit {
  Duration interval = seconds(1);
  std::uint64_t every = 10000;
};

/// The delay of a retry topic.
struct RetryDelay {
  std::string text;  ///< as it was written, because the topic's name contains it
  Duration duration{};
  std::string group{};  ///< in the names of topics that are only of this group; otherwise empty

  bool operator==(const RetryDelay&) const = default;
  /// The retry topic of a topic.
  std::string topic_of(const std::string& topic) const {
    return topic + (group.empty() ? "" : "-" + group) + "-retry-" + text;
  }
};

struct Retry {
  std::uint32_t attempts = 8;  ///< including the first; without dead letters there is no limit
  Duration max_elapsed = std::chrono::minutes(5);
  Duration backoff = milliseconds(500);  ///< with the default attempts, at least half a minute in total
  Duration max_backoff = seconds(30);
  std::uint32_t max_waiting = 1000;
  /// Retry topics of every topic, from the shortest delay to the longest; empty if not configured
  /// (retry_delays() has those of parked records, too).
  std::vector<RetryDelay> topics;
  bool create = true;             ///< whether missing retry topics are created at the start
  std::uint32_t max_crashes = 3;  ///< 0 disables the counting
};

/// Names of the headers with a dead letter's origin and reason.
enum class DeadLetterHeaders : std::uint8_t { spring, connect };

struct DeadLetterSettings {
  /// "{topic}" stands for the record's own topic. Empty if not configured: a record that fails is retried
  /// forever.
  std::string topic;
  DeadLetterHeaders headers = DeadLetterHeaders::spring;
  bool create = true;          ///< whether missing topics are created at the start
  std::uint64_t max_rate = 5;  ///< rejected records per second, over a minute; 0 means no limit

  bool enabled() const { return !topic.empty(); }
};
inline constexpr const char* default_dead_letter_topic = "{topic}-dlt";

struct JournalSettings {
  std::string file;  ///< empty if not configured
};

struct Admin {
  bool enabled = true;
  /// An address that is written is strict; the default gives way to other services of the machine.
  std::string listen = "127.0.0.1:9644-9659";
  std::string token_file;  ///< empty if not configured: a loopback address then needs no token
  std::string token;       ///< the content of the file; never printed
  struct Ready {
    Duration stall = seconds(60);
  } ready;
  bool pool_aliases = false;  ///< also serves pool_jobs_total and so on, without the prefix
};

enum class LogLevel : std::uint8_t { trace, debug, info, warn, error };
enum class LogFormat : std::uint8_t { text, json };

struct Log {
  LogLevel level = LogLevel::info;
  LogFormat format = LogFormat::text;
};

/// Spans of the attempts, for an OpenTelemetry collector.
struct Trace {
  std::string otlp;      ///< URL of the collector, OTLP over HTTP; empty if not configured
  double sample = 0.01;  ///< fraction of the records without a traceparent header
  /// Of the requests to the collector, by name; the values are secrets.
  std::map<std::string, std::string> headers{};
  std::string ca_file{};  ///< empty for the system's certificates
  std::string ca{};       ///< the content of the file, PEM
};

struct Config {
  /// The keys of librdkafka; bootstrap.servers and group.id are always set.
  std::map<std::string, ClientSetting> kafka;
  /// Topic names, or one pattern that starts with ^.
  std::vector<std::string> topics;
  /// Names and patterns of topics that the pattern in `topics` leaves out.
  std::vector<std::string> exclude_topics;
  HandlerSettings handler = LogSettings{};
  std::uint32_t consumers = 1;
  Duration start_deadline = seconds(60);
  /// Allows brokers whose identity is not checked, and unsecured tokens.
  bool allow_insecure = false;
  LaneSettings lanes;
  RouteSettings route;
  /// By lanes.workers, lanes.queue and breaker: the defaults of named pools, and the only stage without them.
  PoolSettings unnamed;
  std::vector<PoolSettings> pools;  ///< the named pools; stages_of() has those that records go through
  Commit commit;
  LedgerSettings ledger;
  Rate rate;  ///< of the process
  Retry retry;
  DeadLetterSettings dead_letter;
  JournalSettings journal;
  Admin admin;
  Log log;
  Trace trace;

  /// The settings of the handler that does the work of `pool`.
  const HandlerSettings& handler_of(const PoolSettings& pool) const {
    return pool.handler ? *pool.handler : handler;
  }
  bool topics_by_pattern() const { return !topics.empty() && topics.front().starts_with('^'); }
  const std::string& client(const std::string& key) const {
    static const std::string none;
    const auto found = kafka.find(key);
    return found == kafka.end() ? none : found->second.value;
  }
};

}  // namespace laneway::config
