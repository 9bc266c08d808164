// Dead letters in the log: each has a line when the dead-letter topic has acknowledged it, and many have one
// together (delivery/failure/letter_limit.h). The limit of "record failed" is another one.
#include "lane/lane.h"
#include "telemetry/log.h"
#include "tracing/record_trace.h"

namespace laneway::lane {

void Lane::report_letters(const handler::Finished& finished, const handler::RecordBatch& batch,
                          TimePoint now) {
  const auto& range = finished.claim.range;
  for (auto i = range.begin; i < range.end; ++i) {
    const auto& item = batch.items[i];
    if (item.state == handler::ItemState::done && letters_.admit(now, item.offset())) report_letter(item);
  }
}

void Lane::report_letter(const handler::Item& item) const {
  const auto& failures = *item.failures;
  const bool elsewhere = failures.retry_offset >= 0;  // it was read in a retry topic
  const auto origin = elsewhere
                          ? std::string(item.record.topic()) + ':' + std::to_string(item.record.partition()) +
                                ':' + std::to_string(item.record.offset())
                          : "";
  telemetry::warn("dead letter", {{"topic", id_.partition.topic},
                                  {"partition", id_.partition.partition},
                                  {"offset", item.offset()},
                                  {"epoch", id_.epoch},
                                  {"attempt", item.attempt},
                                  {elsewhere ? "origin" : "", origin},
                                  tracing::TraceField(&item.record),
                                  {"reason", delivery::name(failures.given_up)},
                                  {"error", failures.reason}});
}

void Lane::report_more_letters(TimePoint now, bool everything) {
  const auto more = letters_.take_due(now, everything);
  if (!more) return;
  telemetry::warn("more dead letters", {{"topic", id_.partition.topic},
                                        {"partition", id_.partition.partition},
                                        {"epoch", id_.epoch},
                                        {"records", more->letters},
                                        {"first_offset", more->first},
                                        {"last_offset", more->last}});
}

}  // namespace laneway::lane
