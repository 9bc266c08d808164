#include "app/dlq/letters.h"
#include "app/dlq/print.h"
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

}  // namespace

Result<LetterPosition> parse_letter_position(std::string_view text) {
  const Error wrong{ErrorKind::usage, "'" + std::string(text) + "' is not the place of a dead letter",
                    "write TOPIC:PARTITION:OFFSET as `laneway dlq list` prints it, or PARTITION:OFFSET"};
  if (auto place = cli::parse_place(text); place && place->offset) return *std::move(place);
  auto place = cli::parse_place("any:" + std::string(text));
  if (!place || !place->offset) return wrong;
  place->topic.clear();
  return *std::move(place);
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
    if (auto started = letters.start({partition, *place.offset, *place.offset + 1}); !started)
      return started.error();
    for (;;) {
      auto next = letters.next(Deadline::in(milliseconds(200)));
      if (!next) return next.error();
      if (next->letter) {
        const auto sent = letters.sent_back({*span});
        out << full_text(*next->letter,
                         {now, sent ? std::optional(sent->contains(partition, *place.offset)) : std::nullopt},
                         max_bytes);
        return {};
      }
      if (next->at_end) return not_there(place, *span);
    }
  }
  const std::string& topic = letters.partitions().front().topic;
  return Error{ErrorKind::no_input, topic + " has no partition " + std::to_string(*place.partition), ""};
}

}  // namespace laneway::dlq
