// The headers of a dead letter: where the record came from, why it was given up, and how often.
//
// Two families are written, and read (dead_letter_read.h), with the names and encodings of their inventors:
//   spring   kafka_dlt-original-{topic,partition,offset,timestamp,timestamp-type,consumer-group} and
//            kafka_dlt-exception-{fqcn,message,stacktrace}: partition as 4 bytes, offset and timestamp as 8,
//            big-endian; the rest text (Spring for Apache Kafka, DeadLetterPublishingRecoverer).
//   connect  __connect.errors.{topic,partition,offset,connector.name,task.id,stage,class.name,
//            exception.class.name,exception.message,exception.stacktrace}: all text, numbers in decimal
//            (Kafka Connect, DeadLetterQueueReporter; KIP-298).
// Facts that neither family has are in headers of laneway's own, all text: laneway-reason, laneway-attempts,
// laneway-first-failure (ms since 1970), laneway-redrives, and those of dead_letter_cut.h; with Connect's
// also laneway-original-{timestamp,timestamp-type,consumer-group}.
//
// A record's own headers stay as they are, except headers with the prefix of either family or of laneway,
// which are removed: so a dead letter that fails again has one description, and a producer cannot forge one.
// The header laneway-part names the sub-job that failed, for the next run of the record. The header was part
// of the record before it became a dead letter, and stays, also when the letter is sent back.
//
// Pure functions, callable from any thread; they throw nothing except std::bad_alloc.
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
  std::optional<std::string> value;  ///< nullopt: null

  friend bool operator==(const Header&, const Header&) = default;
};
using Headers = std::vector<Header>;

enum class HeaderFamily : std::uint8_t { spring, connect };

/// Why a record was given up. The names are also values of a metric's label.
enum class DeadLetterReason : std::uint8_t {
  unknown,             ///< Another program's dead letter, or of a later version.
  rejected,            ///< The handler answered that the record can never work.
  attempts_exhausted,  ///< retry.attempts
  retry_time_over,     ///< retry.max_elapsed
  too_old,             ///< ledger.max_age
  window_full,         ///< It was the oldest incomplete record of a lane at lanes.max_incomplete.
  crashed,             ///< retry.max_crashes: its handling ended the process.
  skipped,             ///< By an operator.
};
inline constexpr auto dead_letter_reasons = static_cast<std::size_t>(DeadLetterReason::skipped) + 1;
std::string_view name(DeadLetterReason reason);

enum class TimestampType : std::uint8_t { none, create_time, log_append_time };

struct DeadLetter {
  /// Of the origin; empty if not known. When read: always a name that Kafka allows.
  std::string topic;
  std::int32_t partition = -1;  ///< -1 if not known; so are the offset and the timestamp.
  std::int64_t offset = -1;
  std::int64_t timestamp = -1;  ///< ms since 1970
  TimestampType timestamp_type = TimestampType::none;
  std::string consumer_group;  ///< Connect: the connector's name.
  DeadLetterReason reason = DeadLetterReason::unknown;
  std::string text;                 ///< The text of the verdict.
  std::string exception;            ///< Read only: the class of error, as the writer names it.
  std::uint32_t attempts = 0;       ///< 0 if not known.
  std::int64_t first_failure = -1;  ///< ms since 1970; -1 if not known.
  /// Read only: how often the record was sent back from a dead-letter topic before it came here again. When
  /// written, the number is that of the record's headers.
  std::uint32_t redrives = 0;
  /// Read only: part of the record is missing (dead_letter_cut.h), so it cannot be sent back.
  bool cut = false;

  friend bool operator==(const DeadLetter&, const DeadLetter&) = default;
};

/// The header of a record that names its only sub-job that is to run (lane/stage/between_stages.h).
inline constexpr std::string_view part_header = "laneway-part";
/// A longer name is none of ours; such a header is removed.
constexpr std::size_t longest_part_bytes = 2048;

/// Longer texts are cut between characters, with an ellipsis.
constexpr std::size_t max_text_bytes = 2048;

/// The most bytes that dead_letter_headers() adds, including names and Kafka's lengths.
constexpr std::size_t max_description_bytes = 8192;

/// Makes text fit for a header: valid UTF-8 on one line. Control characters become spaces, bytes that are not
/// UTF-8 become U+FFFD; at most max_bytes (at least 3), including the ellipsis.
std::string clean_text(std::string_view bytes, std::size_t max_bytes = max_text_bytes);

/// The headers of the dead letter of a record that had `headers`. At most max_description_bytes are added.
Headers dead_letter_headers(Headers headers, const DeadLetter& letter, HeaderFamily family);

/// The headers with which a dead letter is sent back: its own headers and the number of times that it was
/// sent back, including this time, so that a loop can be seen and ended.
Headers redriven_headers(Headers headers, std::uint32_t redrives);

/// Whether the header is part of the description of a dead letter (of either family) or one of laneway's own.
bool describes_dead_letter(std::string_view header_name);

}  // namespace laneway::delivery
