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
  LaneDetail detail{held_by(), {}, source_error_, {}, attempts_.log().last_error()};
  if (!source_error_.empty()) detail.source_failing = now - failing_since_;
  const auto oldest = ledger_.oldest_incomplete();
  if (!oldest) return detail;
  detail.oldest = OldestRecord{oldest->offset, {}, 0, OldestRecord::Phase::queued, {}};
  detail.oldest->age = oldest_.age(oldest->sequence, now);
  const auto look = [&](const handler::Item& item, OldestRecord::Phase phase, std::uint32_t begun) {
    if (item.sequence != oldest->sequence) return;
    detail.oldest->attempts = begun;
    detail.oldest->phase = phase;
    // Only this thread writes it, also while a worker has the record.
    if (item.failures) detail.oldest->error = item.failures->reason;
  };
  attempts_.waiting().each(
      [&](const handler::Item& item) { look(item, OldestRecord::Phase::retry, item.attempt - 1); });
  workload_.each_at_work(
      [&](const handler::Item& item) { look(item, OldestRecord::Phase::at_work, item.attempt); });
  return detail;
}

Skip Lane::skip(std::int64_t offset, const std::string& reason, TimePoint now) {
  if (state_.state() == State::draining || state_.state() == State::revoked) return Skip::leaving;
  if (corrupt_at_ && offset >= next_offset_) return pass_over_corrupt(offset, reason, now);
  if (context_.forward == nullptr) return Skip::no_dead_letters;
  completions_.collect(now);
  if (delivered_ < offset) return Skip::not_taken;
  const auto sequence = ledger_.incomplete_at(offset);
  if (!sequence) return Skip::not_waiting;
  auto skipped = attempts_.skip(*sequence, reason);
  if (skipped.item) {
    workload_.run_alone(std::move(*skipped.item));
    submit(now);
  }
  return skipped.answer;
}

}  // namespace laneway::lane
