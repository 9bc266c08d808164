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
  /// Nothing: the headers do not say that it is a dead letter.
  std::optional<delivery::DeadLetter> description;
};

/// The record's own, where it came from; ms since 1970, -1: none.
std::int64_t timestamp_of(const Letter& letter);
/// When the record failed first, else the dead letter's own time; ms since 1970, -1: not known.
std::int64_t failed_at(const Letter& letter);
/// What kind of failure, in one word: ours, else the class of the exception without its package.
std::string kind_of(const Letter& letter);
/// That and the verdict's words, as they came: not made safe for a terminal.
std::string reason_of(const Letter& letter);
/// "orders[3]@258", with a ? for what is not known.
std::string origin_of(const Letter& letter);

}  // namespace laneway::dlq
