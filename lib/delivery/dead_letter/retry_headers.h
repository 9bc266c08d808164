// The headers of a record in a retry topic: where it began, and how often it was tried.
//
//   laneway-retry-{topic,partition,offset,timestamp,timestamp-type}  its origin, timestamps in ms since 1970
//   laneway-retry-attempts        attempts at it so far, in all topics
//   laneway-retry-first-failure   ms since 1970
//   laneway-retry-reason          of the last failure, for people
//   laneway-retry-step            of a parked record: the topic in which its attempts go on to count
//   laneway-retry-waiting-since   of a parked record: since when it has waited, ms since 1970
//
// All text, numbers in decimal. They do not decide in which topic a record waits next (retry_steps.h). A
// record's own headers stay as they are, except headers with this prefix, which are replaced, so that no
// other program's values count.
//
// Pure functions, callable from any thread; they throw nothing except std::bad_alloc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "delivery/dead_letter/dead_letter.h"

namespace laneway::delivery {

struct RetryOrigin {
  std::string topic;
  std::int32_t partition = -1;
  std::int64_t offset = -1;
  std::int64_t timestamp = -1;  ///< ms since 1970; -1 if there is none
  TimestampType timestamp_type = TimestampType::none;
  std::uint32_t attempts = 0;
  std::int64_t first_failure = -1;  ///< ms since 1970; -1 if not known
  std::string reason{};             ///< written only
  // Of a parked record:
  std::string step{};
  std::int64_t waiting_since = -1;  ///< ms since 1970; -1 if the record was not parked

  friend bool operator==(const RetryOrigin&, const RetryOrigin&) = default;
};

/// The headers with which a record that had `headers` goes to a retry topic.
Headers retry_headers(Headers headers, const RetryOrigin& origin);

/// Reads the headers. nullopt if topic, partition or offset are missing or make no sense.
std::optional<RetryOrigin> read_retry_origin(const Headers& headers);

/// Whether the header is one of these.
bool describes_retry(std::string_view header_name);

}  // namespace laneway::delivery
