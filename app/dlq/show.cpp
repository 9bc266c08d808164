#include <iostream>

#include "app/cli/place.h"
#include "app/dlq/letters.h"
#include "app/dlq/print.h"
#include "app/dlq/sent_back.h"
#include "app/dlq/verbs.h"

namespace laneway::dlq {
namespace {

Error not_there(const LetterPosition& place, const kafka::PartitionSpan& span) {
  return {ErrorKind::no_input,
          "there is no record " + cli::text_of({span.partition.topic, place.partition, place.offset}),
          span.begin < span.end ? "the partition has offsets from " + std::to_string(span.begin) + " to " +
                                      std::to_string(span.end - 1)
                                : "the partition is empty"};
}

/// nullopt if the brokers do not say.
std::optional<bool> was_sent_back(Letters& letters, const kafka::PartitionSpan& span, std::int64_t offset) {
  const auto committed = letters.committed(seconds(5));
  if (!committed) return std::nullopt;
  SentBack sent;
  for (const auto& commit : *committed)
    if (commit.partition == span.partition) sent.add(span.partition, sent_back_of(commit, span));
  return sent.contains(span.partition, offset);
}

}  // namespace

Result<LetterPosition> parse_letter_position(std::string_view text) {
  const Error wrong{ErrorKind::usage, "'" + std::string(text) + "' is not the place of a dead letter",
                    "write TOPIC:PARTITION:OFFSET as `laneway dlq list` prints it, or PARTITION:OFFSET"};
  if (const auto place = cli::parse_place(text); place && place->partition && place->offset)
    return LetterPosition{place->topic, *place->partition, *place->offset};
  // Without the topic, the text is a record of any topic.
  const auto place = cli::parse_place("any:" + std::string(text));
  if (!place || !place->offset) return wrong;
  return LetterPosition{"", *place->partition, *place->offset};
}

Status show(Letters& letters, const LetterPosition& place, std::size_t max_bytes, std::int64_t now,
            std::ostream& out) {
  if (const auto& all = letters.partitions(); all.front().topic != all.back().topic)
    return Error{ErrorKind::usage, "there are several dead-letter topics", "write TOPIC:PARTITION:OFFSET"};
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
        out << full_text(*next->letter, {now, was_sent_back(letters, *span, place.offset)}, max_bytes);
        return {};
      }
      if (next->at_end) return not_there(place, *span);
    }
  }
  const std::string& topic = letters.partitions().front().topic;
  return Error{ErrorKind::no_input, topic + " has no partition " + std::to_string(place.partition), ""};
}

}  // namespace laneway::dlq
