#include <iostream>
#include <map>

#include "app/dlq/letters.h"
#include "app/dlq/print.h"
#include "app/dlq/verbs.h"

namespace laneway::dlq {
namespace {

/// At once with the first letter of a topic, so that an empty one has no table.
class Listing {
 public:
  Listing(const Options& options, std::int64_t now, std::ostream& out)
      : options_(options), now_(now), out_(out) {}

  void add(const Letter& letter) {
    ++all_;
    if (!options_.filter.lets_through(letter)) return;
    ++let_through_;
    ++kinds_[delivery::clean_text(kind_of(letter), 60)];
    if (options_.limit > 0 && let_through_ > options_.limit) return;
    if (options_.json) {
      out_ << json_line(letter);
      return;
    }
    if (topic_ != letter.record.topic()) {
      topic_ = letter.record.topic();
      out_ << (let_through_ > 1 ? "\n" : "") << topic_ << '\n' << table_heading();
    }
    out_ << table_row(letter, now_);
  }

  void close() {
    if (options_.json) return;
    if (let_through_ > 0) out_ << '\n';
    out_ << let_through_ << " of " << all_ << (all_ == 1 ? " dead letter" : " dead letters");
    if (options_.limit > 0 && let_through_ > options_.limit)
      out_ << ", the first " << options_.limit << " shown";
    out_ << '\n';
    for (const auto& [kind, count] : kinds_) out_ << cell("  " + std::to_string(count), 10) << kind << '\n';
  }

 private:
  const Options& options_;
  const std::int64_t now_;
  std::ostream& out_;
  std::string topic_;
  std::uint64_t all_ = 0, let_through_ = 0;
  std::map<std::string, std::uint64_t> kinds_;
};

}  // namespace

Status list(Letters& letters, const Options& options, std::int64_t now, std::ostream& out) {
  Listing listing(options, now, out);
  for (const auto& partition : letters.partitions()) {
    const auto span = letters.span(partition);
    if (!span) return span.error();
    if (auto started = letters.start(*span); !started) return started.error();
    for (bool at_end = false; !at_end && out;) {
      auto next = letters.next(Deadline::in(milliseconds(200)));
      if (!next) return next.error();
      if (next->letter) listing.add(*next->letter);
      at_end = next->at_end;
    }
  }
  listing.close();
  return {};
}

}  // namespace laneway::dlq
