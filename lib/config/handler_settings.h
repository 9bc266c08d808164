// The settings of each handler as plain data, with every default. The .cpp file of a handler in
// config/handlers has the rest of its configuration: keys, rules, and the section of the reference.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/time.h"
#include "config/client/client_setting.h"

namespace laneway::config {

/// `handler.log`: prints each record to standard output.
struct LogSettings {};

/// `handler.simulate`: behaves like work, for trying settings. Topic, partition, offset and attempt alone
/// decide which records fail or hang, so a run can be repeated.
struct SimulateSettings {
  /// A fixed duration, or, if p99 is set, a log-normal distribution through p50 and p99.
  struct Sleep {
    Duration p50 = milliseconds(10);
    std::optional<Duration> p99;

    bool operator==(const Sleep&) const = default;
  } sleep;
  Duration spin{};                            ///< processor time, in addition to the sleep
  double fail = 0;                            ///< fraction of the attempts that fail with the answer retry
  double hang = 0;                            ///< fraction of the attempts that hang until they are stopped
  std::vector<std::int32_t> hang_partitions;  ///< partitions whose attempts all hang until they are stopped
  /// With another pool next: the number of results of a record, each with the record's value; 0: the record
  /// itself goes on.
  std::uint32_t results = 0;
  Duration timeout = seconds(30);
};

enum class BatchFormat : std::uint8_t { json, ndjson };

/// The verdict on a record that a status of a web service stands for.
enum class StatusVerdict : std::uint8_t { done, retry, reject, unavailable };
/// By status (404) or by class (5 for 5xx).
using StatusVerdicts = std::map<std::uint16_t, StatusVerdict>;

/// `handler.http`: a POST for each record, or for several.
struct HttpSettings {
  std::string url;
  /// Path of a file with subscribers (subscribers.h), instead of a URL; empty if not configured.
  std::string subscribers;
  /// Whether subscribers may have addresses of private networks and of this machine.
  bool private_addresses = false;
  Duration timeout = seconds(10);
  std::string content_type = "application/octet-stream";
  /// Record headers passed on as request headers, by name.
  std::vector<std::string> headers;
  Duration max_retry_after = seconds(60);  ///< limit of the server's Retry-After
  StatusVerdicts statuses;                 ///< override the table in lib/handler/http/http_answer.h
  std::string authorization_file;          ///< empty if not configured
  std::string authorization;               ///< the content of the file: the header's value; secret
  std::string ca_file;                     ///< empty for the system's certificates
  std::string ca;                          ///< the content of the file, PEM
  /// Maximum number of simultaneous requests, and so of connections; below the usual limit of 1,024 open
  /// files.
  std::uint32_t connections = 512;
  struct Batch {
    std::uint32_t records = 0;  ///< maximum in one request; 0 disables batches: the body is a record's value
    Duration linger = milliseconds(10);  ///< how long the first record of a request waits for others
    std::uint64_t bytes = 1 << 20;       ///< a request of this size takes no more records
    BatchFormat format = BatchFormat::json;
  } batch;
};

/// The format of records and answers; see lib/handler/exec/exec_frame.h.
enum class Framing : std::uint8_t { json, binary };

/// `handler.exec`: a program that keeps running and reads records.
struct ExecSettings {
  /// The program by its absolute path, and its arguments, as exec_command.h resolves them. There is no shell.
  std::vector<std::string> command;
  Framing framing = Framing::json;
  Duration timeout = seconds(30);
  Duration idle = seconds(300);   ///< a program without a record for this time is ended
  std::uint64_t max_records = 0;  ///< a program is replaced after so many records; 0: never
  Duration max_age{};             ///< a program is replaced when it is so old; 0: never
};

/// `handler.plugin`: a shared library processes the records.
struct PluginSettings {
  std::string path;  ///< of the shared library, absolute
  Duration timeout = seconds(30);
  std::string config = "{}";        ///< the section handler.plugin.config as JSON
  std::string shown_config = "{}";  ///< the same as YAML, without texts that may be secret

  /// Of the section.
  bool operator==(const PluginSettings& other) const { return config == other.config; }
};

/// `handler.produce`: writes each record to a topic; a record is done when all in-sync replicas have it.
struct ProduceSettings {
  enum class Partition : std::uint8_t { by_key, keep };
  enum class Timestamp : std::uint8_t { keep, now };

  /// `{topic}` in it stands for the record's own topic.
  std::string topic;
  /// A record header that names the topic instead; empty if not configured. The topic must be in `topics`.
  std::string topic_header;
  /// The same for a text in a JSON value: the JSON pointer (RFC 6901) to the text; empty if not configured.
  std::string topic_field;
  std::vector<std::string> topics;
  bool keep_key = true;
  /// A record header whose value becomes the key; empty if not configured.
  std::string key_header;
  /// The same for a text or a whole number in a JSON value, as `topic_field`.
  std::string key_field;
  Partition partition = Partition::by_key;
  bool keep_headers = true;
  /// New names for headers; a header with an empty name is left out.
  std::map<std::string, std::string> rename_headers;
  Timestamp timestamp = Timestamp::keep;
  /// Records are written, and their offsets committed, in transactions.
  bool transactional = false;
  /// Time limit for the acknowledgement of a record; then the answer is unavailable.
  Duration timeout = seconds(30);
  /// The producer's own client keys, which override those of `kafka`: another cluster, batching, compression.
  std::map<std::string, ClientSetting> client;

  bool other_cluster() const { return client.contains("bootstrap.servers"); }
};

/// `handler.fan_out`: one result for each subscriber of an event.
struct FanOutSettings {
  std::string subscribers;  ///< path of the file; see subscribers.h
  /// Where the type of an event is found, which the `events` of subscribers are compared with: a selector as
  /// in config/pools/selector.h.
  std::string event = "header:type";
};

/// One alternative for each handler, with a schema_of() in config/handlers.
using HandlerSettings = std::variant<LogSettings, SimulateSettings, HttpSettings, ExecSettings,
                                     PluginSettings, ProduceSettings, FanOutSettings>;

}  // namespace laneway::config
