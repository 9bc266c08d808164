// The settings of `handler.http`. The .cpp file has the rest of the handler's configuration: keys, rules, and
// the section of the reference. See handler_schema.h. Files with secrets and certificates are read when their
// keys are set; otherwise pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/time.h"

namespace laneway::config {

struct HandlerSchema;

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

HandlerSchema schema_of(const HttpSettings&);

}  // namespace laneway::config
