#include "app/dlq/letter.h"

#include <utility>

#include "app/cli/place.h"
#include "delivery/dead_letter/dead_letter_read.h"
#include "handler/forward/header_lists.h"

namespace laneway::dlq {

Letter::Letter(kafka::Record r)
    : record(std::move(r)),
      headers(handler::headers_of(record)),
      description(delivery::read_dead_letter(headers)) {}

std::int64_t timestamp_of(const Letter& letter) {
  if (letter.description && letter.description->timestamp >= 0) return letter.description->timestamp;
  return letter.record.timestamp();
}

std::int64_t failed_at(const Letter& letter) {
  if (letter.description && letter.description->first_failure >= 0) return letter.description->first_failure;
  return letter.record.timestamp();
}

std::string kind_of(const Letter& letter) {
  if (!letter.description) return "not a dead letter";
  if (letter.description->reason != delivery::DeadLetterReason::unknown)
    return std::string(delivery::name(letter.description->reason));
  const std::string& exception = letter.description->exception;
  if (exception.empty()) return std::string(delivery::name(delivery::DeadLetterReason::unknown));
  return exception.substr(exception.find_last_of(".$") + 1);
}

std::string reason_of(const Letter& letter) {
  const auto kind = kind_of(letter);
  if (!letter.description || letter.description->text.empty()) return kind;
  const std::string& text = letter.description->text;
  if (letter.description->reason != delivery::DeadLetterReason::unknown) return kind + ": " + text;
  return text + " (" + kind + ")";
}

std::string place_of(const Letter& letter) {
  const auto& record = letter.record;
  return cli::text_of({std::string(record.topic()), record.partition(), record.offset()});
}

std::string origin_of(const Letter& letter) {
  const auto number = [](std::int64_t n) { return n < 0 ? "?" : std::to_string(n); };
  if (!letter.description || letter.description->topic.empty()) return "?";
  const auto& from = *letter.description;
  return from.topic + ':' + number(from.partition) + ':' + number(from.offset);
}

}  // namespace laneway::dlq
