// The settings of `handler.http`; the .cpp file has all else that the configuration knows about this handler:
// its keys, its rules, its section of the reference. See handler_schema.h. Files with secrets and
// certificates are read when their keys are set; otherwise pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/time.h"

namespace laneway::config {

template <class Alternative>
struct HandlerSchemaOf;

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

HandlerSchemaOf<HttpSettings> http_schema();

}  // namespace laneway::config
