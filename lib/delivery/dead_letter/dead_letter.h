// What the headers of a dead letter say: where the record came from, why it was given up, and how often.
//
// Two families are written, and read (dead_letter_read.h), under the names and in the encodings of those who
// made them:
//   spring   kafka_dlt-original-{topic,partition,offset,timestamp,timestamp-type,consumer-group} and
//            kafka_dlt-exception-{fqcn,message,stacktrace}: partition as 4 bytes, offset and timestamp as 8,
//            big-endian; the rest text (Spring for Apache Kafka, DeadLetterPublishingRecoverer).
//   connect  __connect.errors.{topic,partition,offset,connector.name,task.id,stage,class.name,
//            exception.class.name,exception.message,exception.stacktrace}: all text, numbers in decimal
//            (Kafka Connect, DeadLetterQueueReporter; KIP-298).
// What neither has stands in headers of our own, all text: laneway-reason, laneway-attempts,
// laneway-first-failure (ms since 1970), laneway-redrives, and those of dead_letter_cut.h; beside Connect's
// also laneway-original-{timestamp,timestamp-type,consumer-group}.
//
// A record's own headers stay as they are, but what bears a name with the prefix of either family or of ours
// is taken off: a dead letter that fails again carries one description, and a producer cannot forge one.
//
// Pure functions, callable from any thread; nothing throws but std::bad_alloc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace laneway::delivery {

struct Header {
  std::string name;
  std::optional<std::string> value;  ///< nothing: null

  friend bool operator==(const Header&, const Header&) = default;
};
using Headers = std::vector<Header>;

enum class HeaderFamily : std::uint8_t { spring, connect };

/// Why a record was given up. The names are also values of a metric's label.
enum class DeadLetterReason : std::uint8_t {
  unknown,             ///< Somebody else's dead letter, or of a later version.
  rejected,            ///< The handler said that it can never work.
  attempts_exhausted,  ///< retry.attempts
  retry_time_over,     ///< retry.max_elapsed
  too_old,             ///< ledger.max_age
  window_full,         ///< It was the oldest incomplete one of a lane at lanes.max_incomplete.
  crashed,             ///< retry.max_crashes: its handling ended the process.
  skipped,             ///< By an operator.
};
inline constexpr auto dead_letter_reasons = static_cast<std::size_t>(DeadLetterReason::skipped) + 1;
std::string_view name(DeadLetterReason reason);

enum class TimestampType : std::uint8_t { none, create_time, log_append_time };

struct DeadLetter {
  std::string topic;            ///< Of the origin; empty: not known. Read: always a name that Kafka allows.
  std::int32_t partition = -1;  ///< -1: not known; so are the offset and the timestamp.
  std::int64_t offset = -1;
  std::int64_t timestamp = -1;  ///< ms since 1970
  TimestampType timestamp_type = TimestampType::none;
  std::string consumer_group;  ///< Connect: the connector's name.
  DeadLetterReason reason = DeadLetterReason::unknown;
  std::string text;                 ///< The verdict's own words.
  std::string exception;            ///< Read only: the class of error, as the writer calls it.
  std::uint32_t attempts = 0;       ///< 0: not known.
  std::int64_t first_failure = -1;  ///< ms since 1970; -1: not known.
  /// Read only: how often it was sent back from a dead-letter topic before it came here again. Written as the
  /// record's headers say.
  std::uint32_t redrives = 0;
  bool cut = false;  ///< Read only: something is missing (dead_letter_cut.h); it cannot be sent back whole.

  friend bool operator==(const DeadLetter&, const DeadLetter&) = default;
};

/// Longer texts are cut at a character, with an ellipsis.
constexpr std::size_t max_text_bytes = 2048;

/// The most that dead_letter_headers() adds, names and Kafka's lengths included.
constexpr std::size_t max_description_bytes = 8192;

/// Text as it may stand in a header: valid UTF-8 on one line. Control characters become spaces, bytes that
/// are not UTF-8 U+FFFD; at most max_bytes (at least 3), the ellipsis included.
std::string clean_text(std::string_view bytes, std::size_t max_bytes = max_text_bytes);

/// The headers of the dead letter of a record that had `headers`. Bounded beyond those: what is added has at
/// most max_description_bytes.
Headers dead_letter_headers(Headers headers, const DeadLetter& letter, HeaderFamily family);

/// The headers with which a dead letter goes back to work: its own, and how often it went back, this time
/// included: a loop can be seen and ended.
Headers redriven_headers(Headers headers, std::uint32_t redrives);

/// Whether the header belongs to the description of a dead letter (of either family) or is one of ours.
bool describes_dead_letter(std::string_view header_name);

}  // namespace laneway::delivery
