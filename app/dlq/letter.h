// A record of a dead-letter topic and what its headers say, as the verbs of `laneway dlq` look at it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "delivery/dead_letter/dead_letter.h"
#include "kafka/record.h"

namespace laneway::dlq {

struct Letter {
  explicit Letter(kafka::Record r);

  kafka::Record record;
  delivery::Headers headers;
  /// nullopt if the headers are not those of a dead letter.
  std::optional<delivery::DeadLetter> description;
};

/// The timestamp that the record had in its own topic; ms since 1970, -1: none.
std::int64_t timestamp_of(const Letter& letter);
/// When the record failed first, or the dead letter's own time if that is unknown; ms since 1970, -1:
/// unknown.
std::int64_t failed_at(const Letter& letter);
/// The kind of failure, in one word: laneway's reason, or the class of the exception without its package.
std::string kind_of(const Letter& letter);
/// The kind and the text of the verdict. The text is not made safe for a terminal.
std::string reason_of(const Letter& letter);
/// The letter's own place, "orders-dlt:1:17".
std::string place_of(const Letter& letter);
/// The place that the record came from, "orders:3:258", with a ? for each unknown part.
std::string origin_of(const Letter& letter);

}  // namespace laneway::dlq
