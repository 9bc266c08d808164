#include <charconv>
#include <iostream>

#include "app/dlq/letters.h"
#include "app/dlq/print.h"
#include "app/dlq/verbs.h"

namespace laneway::dlq {
namespace {

template <class Integer>
bool read(std::string_view text, Integer& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= 0;
}

Error not_there(const LetterPosition& place, const kafka::PartitionSpan& span) {
  return {ErrorKind::no_input,
          "there is no record at offset " + std::to_string(place.offset) + " of " + span.partition.text(),
          span.begin < span.end
              ? "it holds offsets from " + std::to_string(span.begin) + " to " + std::to_string(span.end - 1)
              : "it is empty"};
}

}  // namespace

Result<LetterPosition> parse_letter_position(std::string_view text) {
  const Error wrong{ErrorKind::usage, "'" + std::string(text) + "' is not a place of a record",
                    "PARTITION:OFFSET as `laneway dlq list` shows it, or TOPIC:PARTITION:OFFSET"};
  LetterPosition place;
  const auto last = text.rfind(':');
  if (last == text.npos || !read(text.substr(last + 1), place.offset)) return wrong;
  text = text.substr(0, last);
  if (const auto colon = text.rfind(':'); colon != text.npos) {
    place.topic = text.substr(0, colon);
    text = text.substr(colon + 1);
    if (place.topic.empty()) return wrong;
  }
  if (!read(text, place.partition)) return wrong;
  return place;
}

Status show(Letters& letters, const LetterPosition& place, std::size_t max_bytes, std::int64_t now,
            std::ostream& out) {
  if (const auto& all = letters.partitions(); all.front().topic != all.back().topic)
    return Error{ErrorKind::usage, "there are several dead-letter topics", "say TOPIC:PARTITION:OFFSET"};
  for (const auto& partition : letters.partitions()) {
    if (partition.partition != place.partition) continue;
    const auto span = letters.span(partition);
    if (!span) return span.error();
    if (place.offset < span->begin || place.offset >= span->end) return not_there(place, *span);
    if (auto started = letters.start({partition, place.offset, place.offset + 1}); !started)
      return started.error();
    for (;;) {
      auto next = letters.next(Deadline::in(milliseconds(200)));
      if (!next) return next.error();
      if (next->letter) {
        out << full_text(*next->letter, now, max_bytes);
        return {};
      }
      if (next->at_end) return not_there(place, *span);
    }
  }
  return Error{ErrorKind::no_input, "there is no partition " + std::to_string(place.partition), ""};
}

}  // namespace laneway::dlq
