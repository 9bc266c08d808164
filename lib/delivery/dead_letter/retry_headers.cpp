#include "delivery/dead_letter/retry_headers.h"

#include <algorithm>

#include "delivery/dead_letter/dead_letter_names.h"
#include "delivery/dead_letter/header_values.h"

namespace laneway::delivery {
namespace {

constexpr std::string_view prefix = "laneway-retry-";
constexpr std::string_view topic_name = "laneway-retry-topic";
constexpr std::string_view partition_name = "laneway-retry-partition";
constexpr std::string_view offset_name = "laneway-retry-offset";
constexpr std::string_view timestamp_name = "laneway-retry-timestamp";
constexpr std::string_view timestamp_type_name = "laneway-retry-timestamp-type";
constexpr std::string_view attempts_name = "laneway-retry-attempts";
constexpr std::string_view first_failure_name = "laneway-retry-first-failure";
constexpr std::string_view reason_name = "laneway-retry-reason";
constexpr std::string_view step_name = "laneway-retry-step";
constexpr std::string_view waiting_since_name = "laneway-retry-waiting-since";

/// A bound, so that adding to another program's number cannot overflow.
constexpr std::uint32_t most_attempts = 1'000'000'000;

}  // namespace

Headers retry_headers(Headers headers, const RetryOrigin& origin) {
  std::erase_if(headers, [](const Header& header) { return describes_retry(header.name); });
  add(headers, topic_name, origin.topic);
  add(headers, partition_name, std::to_string(origin.partition));
  add(headers, offset_name, std::to_string(origin.offset));
  if (origin.timestamp >= 0) add(headers, timestamp_name, std::to_string(origin.timestamp));
  add(headers, timestamp_type_name, std::string(name(origin.timestamp_type)));
  add(headers, attempts_name, std::to_string(origin.attempts));
  if (origin.first_failure >= 0) add(headers, first_failure_name, std::to_string(origin.first_failure));
  add(headers, reason_name, clean_text(origin.reason));
  if (origin.waiting_since >= 0) {
    add(headers, step_name, origin.step);
    add(headers, waiting_since_name, std::to_string(origin.waiting_since));
  }
  return headers;
}

std::optional<RetryOrigin> read_retry_origin(const Headers& headers) {
  RetryOrigin origin;
  origin.topic = topic_in(last(headers, topic_name));
  origin.partition = decimal<std::int32_t>(last(headers, partition_name)).value_or(-1);
  origin.offset = decimal<std::int64_t>(last(headers, offset_name)).value_or(-1);
  if (origin.topic.empty() || origin.partition < 0 || origin.offset < 0) return {};
  origin.timestamp = decimal<std::int64_t>(last(headers, timestamp_name)).value_or(-1);
  origin.timestamp_type = timestamp_type_named(last(headers, timestamp_type_name).value_or(""));
  origin.attempts = std::min(decimal<std::uint32_t>(last(headers, attempts_name)).value_or(0), most_attempts);
  origin.first_failure = decimal<std::int64_t>(last(headers, first_failure_name)).value_or(-1);
  origin.waiting_since = decimal<std::int64_t>(last(headers, waiting_since_name)).value_or(-1);
  if (origin.waiting_since >= 0) origin.step = topic_in(last(headers, step_name));
  return origin;
}

bool describes_retry(std::string_view header_name) { return header_name.starts_with(prefix); }

}  // namespace laneway::delivery
