#include "lane/attempts/failure_log.h"

#include "telemetry/log.h"
#include "tracing/record_trace.h"

namespace laneway::lane {

void FailureLog::failed(const char* event, const handler::Item& item, std::uint32_t attempt,
                        const handler::Outcome& outcome, TimePoint now) {
  ++failures_since_;
  if (now < next_line_) return;
  next_line_ = now + seconds(5);
  telemetry::warn(event, {{"topic", id_.partition.topic},
                          {"partition", id_.partition.partition},
                          {"offset", item.offset()},
                          {"epoch", id_.epoch},
                          {"attempt", attempt},
                          tracing::TraceField(&item.record),
                          {"outcome", outcome_name(outcome)},
                          {"failures", failures_since_},
                          {"error", outcome.reason}});
  failures_since_ = 0;
}

void FailureLog::skipped(const handler::Item& item) const {
  telemetry::warn("record skipped, goes to the dead-letter topic", {{"topic", id_.partition.topic},
                                                                    {"partition", id_.partition.partition},
                                                                    {"offset", item.offset()},
                                                                    {"epoch", id_.epoch},
                                                                    {"attempt", item.attempt},
                                                                    tracing::TraceField(&item.record),
                                                                    {"error", item.failures->reason}});
}

void FailureLog::letters(const handler::Finished& finished, TimePoint now) {
  const auto& range = finished.claim.range;
  const auto& batch = static_cast<const handler::RecordBatch&>(*range.batch);
  for (auto i = range.begin; i < range.end; ++i) {
    const auto& item = batch.items[i];
    if (item.state == handler::ItemState::done && letter_limit_.admit(now, item.offset())) letter(item);
  }
}

void FailureLog::letter(const handler::Item& item) const {
  const auto& failures = *item.failures;
  const bool elsewhere = failures.retry_offset >= 0;  // it was read from a retry topic
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

void FailureLog::more_letters(TimePoint now, bool everything) {
  const auto more = letter_limit_.take_due(now, everything);
  if (!more) return;
  telemetry::warn("more dead letters", {{"topic", id_.partition.topic},
                                        {"partition", id_.partition.partition},
                                        {"epoch", id_.epoch},
                                        {"records", more->letters},
                                        {"first_offset", more->first},
                                        {"last_offset", more->last}});
}

void FailureLog::remember(const handler::Item& item, const handler::Outcome& outcome) {
  if (!last_error_) last_error_.emplace();
  last_error_->offset = item.offset();
  last_error_->attempt = item.attempt;
  last_error_->at_ms = wall_clock_ms();
  last_error_->at = SteadyClock::now();
  last_error_->error.assign(outcome.reason, 0, longest_reason);
}

}  // namespace laneway::lane
