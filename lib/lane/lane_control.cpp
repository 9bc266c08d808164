// What operators ask of a lane: it is paused, shown, and told to skip a record.
#include "lane/lane_detail.h"

#include <algorithm>

#include "lane/lane.h"
#include "telemetry/log.h"
#include "tracing/record_trace.h"

namespace laneway::lane {

void Lane::follow_hand(TimePoint now) {
  if (context_.hand_pauses == nullptr) return;
  const bool wanted = context_.hand_pauses->paused(id_.partition);
  if (wanted == state_.has(Hold::by_hand)) return;
  state_.set(Hold::by_hand, wanted, now);
  show_state();
  id_.log(wanted ? "lane paused by hand" : "lane no longer paused by hand", ledger_.committable());
}

LaneDetail Lane::detail(TimePoint now) const {
  LaneDetail detail{held_by(), {}, source_error_, {}, last_error_};
  if (!source_error_.empty()) detail.source_failing = now - failing_since_;
  const auto oldest = ledger_.oldest_incomplete();
  if (!oldest) return detail;
  detail.oldest = OldestRecord{oldest->offset, {}, 0, OldestRecord::Phase::queued, {}};
  if (oldest->sequence == oldest_seen_ && oldest_since_ != TimePoint{})
    detail.oldest->age = now - oldest_since_;
  const auto look = [&](const handler::Item& item, OldestRecord::Phase phase, std::uint32_t begun) {
    if (item.sequence != oldest->sequence) return;
    detail.oldest->attempts = begun;
    detail.oldest->phase = phase;
    // Only this thread writes it, also while a worker has the record.
    if (item.failures) detail.oldest->error = item.failures->reason;
  };
  waiting_.each([&](const handler::Item& item) { look(item, OldestRecord::Phase::retry, item.attempt - 1); });
  for (const auto& range : pool_->in_flight()) {
    const auto& batch = static_cast<const handler::RecordBatch&>(*range.batch);
    if (!current(batch)) continue;
    for (auto i = range.begin; i < range.end; ++i)
      look(batch.items[i], OldestRecord::Phase::at_work, batch.items[i].attempt);
  }
  return detail;
}

Skip Lane::skip(std::int64_t offset, const std::string& reason, TimePoint now) {
  if (state_.state() == State::draining || state_.state() == State::revoked) return Skip::leaving;
  if (corrupt_at_ && offset >= next_offset_) return pass_over_corrupt(offset, reason, now);
  if (context_.forward == nullptr) return Skip::no_dead_letters;
  collect(now);
  if (delivered_ < offset) return Skip::not_taken;
  const auto sequence = ledger_.incomplete_at(offset);
  if (!sequence) return Skip::not_waiting;
  bool given_up = false;
  auto item = waiting_.take([&](const handler::Item& waiting) {
    if (waiting.sequence != *sequence) return false;
    given_up = waiting.route() == handler::Route::dead_letter;
    return !given_up;
  });
  if (given_up) return Skip::already_given_up;
  if (!item) {
    skips_[*sequence] = reason;
    return Skip::when_it_fails;
  }
  bytes_ -= std::min(bytes_, memory_of(*item));
  item->attempt = std::max(item->attempt, 2U) - 1;  // the next one does not take place
  skip(std::move(*item), reason);
  submit(now);
  return Skip::on_its_way;
}

void Lane::skip(handler::Item item, const std::string& reason) {
  std::string text = "skipped by an operator: " + reason;
  if (item.failures && !item.failures->reason.empty()) text += " (last error: " + item.failures->reason + ")";
  telemetry::warn("record skipped, goes to the dead-letter topic", {{"topic", id_.partition.topic},
                                                                    {"partition", id_.partition.partition},
                                                                    {"offset", item.offset()},
                                                                    {"epoch", id_.epoch},
                                                                    {"attempt", item.attempt},
                                                                    tracing::TraceField(&item.record),
                                                                    {"error", text}});
  note_failure(item, handler::Outcome::reject(std::move(text)));
  give_up(item, handler::Route::dead_letter, delivery::DeadLetterReason::skipped);
  run_alone(std::move(item));
}

/// Whether an operator wanted it skipped while the record was unavailable.
bool Lane::skip_if_wished(handler::Item& item, const handler::Outcome& outcome) {
  if (skips_.empty() || item.route() == handler::Route::dead_letter) return false;
  const auto wish = skips_.extract(item.sequence);
  if (wish.empty()) return false;
  if (item.route() == handler::Route::work && outcome.cause != handler::Cause::withheld)
    note_failure(item, outcome);
  skip(std::move(item), wish.mapped());
  return true;
}

}  // namespace laneway::lane
