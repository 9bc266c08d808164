// What a lane does after its process has died: see commit/crash_gate.h.
#include "lane/lane.h"

namespace laneway::lane {

bool Lane::wants_commit() const {
  return gate_.wants_commit() && ledger_.committable() >= 0 && state_.state() != State::draining;
}

/// Whether the first of these records may go to the pool now.
bool Lane::may_begin(const Pending& next, TimePoint now) {
  auto& batch = *next.batch;
  const bool alone = batches_.size() == pending_.size();
  const auto entry = gate_.may_begin(batch, next.begin > 0, alone, now);
  if (entry == CrashGate::Entry::condemned) condemn(batch, batch.items.front());
  return entry != CrashGate::Entry::later;
}

/// Its handling has ended the process too often: it goes to the dead-letter topic without another attempt.
void Lane::condemn(handler::RecordBatch& batch, handler::Item& item) {
  item.attempt = gate_.watch().crashes(item.offset());
  auto outcome = handler::Outcome::reject("the process ended " + std::to_string(item.attempt) +
                                          " times while this record was at work (retry.max_crashes)");
  note_failure(item, outcome);
  remember_error(item, outcome);
  give_up(item, handler::Route::dead_letter, delivery::DeadLetterReason::crashed);
  batch.route = handler::Route::dead_letter;
}

void Lane::tick_careful(TimePoint now) {
  gate_.tick(source_ == nullptr ? kafka::no_offset : source_->log_bounds().end, next_offset_, now);
}

std::uint32_t Lane::run_limit() const {
  return gate_.careful() ? gate_.run_limit(run_, pool_->snapshot().service_time) : run_;
}

}  // namespace laneway::lane
