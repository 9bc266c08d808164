#include <algorithm>
#include <iostream>
#include <map>

#include "app/cli/terminal.h"
#include "app/dlq/letters.h"
#include "app/dlq/print.h"
#include "app/dlq/verbs.h"
#include "config/text.h"

namespace laneway::dlq {
namespace {

/// Prints letters as they come. A topic without letters has no table.
class Listing {
 public:
  Listing(const Options& options, std::int64_t now, const Output& output)
      : options_(options), now_(now), out_(output.out), width_(output.width) {}

  void begin(const std::string& topic, const Letters& letters, std::int64_t end) {
    const auto& all = letters.partitions();
    const auto count =
        std::count_if(all.begin(), all.end(), [&](const auto& one) { return one.topic == topic; });
    layout_ = layout_of(topic, static_cast<std::int32_t>(count), std::max(end, last_end_), width_);
    last_end_ = topic == topic_ ? std::max(end, last_end_) : end;
  }

  void add(const Letter& letter, std::optional<bool> sent_back) {
    ++all_;
    if (!options_.filter.lets_through(letter)) return;
    if (options_.pending && sent_back == true) return;
    ++let_through_;
    if (sent_back == true) ++sent_back_;
    ++kinds_[delivery::clean_text(kind_of(letter), 60)];
    if (options_.limit > 0 && let_through_ > options_.limit) return;
    if (options_.json) {
      out_ << json_line(letter, sent_back);
      return;
    }
    if (topic_ != letter.record.topic()) {
      topic_ = letter.record.topic();
      out_ << (let_through_ > 1 ? "\n" : "") << table_heading(layout_);
    }
    out_ << table_row(letter, {now_, sent_back}, layout_);
  }

  void close() {
    if (options_.json) return;
    if (let_through_ > 0) out_ << '\n';
    out_ << let_through_ << " of " << config::counted(all_, "dead letter");
    if (options_.limit > 0 && let_through_ > options_.limit)
      out_ << ", the first " << options_.limit << " shown";
    if (sent_back_ > 0)
      out_ << "; redrive has sent back " << sent_back_ << " of them (--pending leaves these out)";
    out_ << '\n';
    for (const auto& [kind, count] : kinds_)
      out_ << cli::cell("  " + std::to_string(count), 10) << kind << '\n';
  }

 private:
  const Options& options_;
  const std::int64_t now_;
  std::ostream& out_;
  const std::size_t width_;
  Layout layout_;
  std::int64_t last_end_ = 0;  // the largest end of the topic's partitions so far
  std::string topic_;
  std::uint64_t all_ = 0, let_through_ = 0, sent_back_ = 0;
  std::map<std::string, std::uint64_t> kinds_;
};

Result<std::vector<kafka::PartitionSpan>> spans_of(Letters& letters) {
  std::vector<kafka::PartitionSpan> spans;
  for (const auto& partition : letters.partitions()) {
    const auto span = letters.span(partition);
    if (!span) return span.error();
    spans.push_back(*span);
  }
  return spans;
}

Status list_all(Letters& letters, const std::vector<kafka::PartitionSpan>& spans, const SentBack* sent,
                Listing& listing, const std::ostream& out) {
  for (const auto& span : spans) {
    if (auto started = letters.start(span); !started) return started.error();
    listing.begin(span.partition.topic, letters, span.end);
    for (bool at_end = false; !at_end && out;) {
      auto next = letters.next(Deadline::in(milliseconds(200)));
      if (!next) return next.error();
      if (next->letter)
        listing.add(*next->letter, sent == nullptr ? std::nullopt
                                                   : std::optional(sent->contains(
                                                         span.partition, next->letter->record.offset())));
      at_end = next->at_end;
    }
  }
  return {};
}

}  // namespace

Status list(Letters& letters, const Options& options, std::int64_t now, const Output& output) {
  const auto spans = spans_of(letters);
  if (!spans) return spans.error();
  const auto sent = letters.sent_back(*spans);
  if (!sent && options.pending) return sent.error();
  if (!sent)
    std::cerr << "unknown which letters were sent back: " << cli::safe_text(sent.error().text()) << '\n';
  Listing listing(options, now, output);
  if (auto listed = list_all(letters, *spans, sent ? &*sent : nullptr, listing, output.out); !listed)
    return listed;
  listing.close();
  return {};
}

}  // namespace laneway::dlq
