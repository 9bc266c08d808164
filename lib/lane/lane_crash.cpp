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
  if (entry == CrashGate::Entry::condemned) {
    auto& item = batch.items.front();
    attempts_.condemn(item, gate_.watch().crashes(item.offset()));
    batch.route = handler::Route::dead_letter;
  }
  return entry != CrashGate::Entry::later;
}

void Lane::tick_careful(TimePoint now) {
  gate_.tick(source_ == nullptr ? kafka::no_offset : source_->log_bounds().end, next_offset_, now);
}

std::uint32_t Lane::run_limit() const {
  return gate_.careful() ? gate_.run_limit(run_, pool_->snapshot().service_time) : run_;
}

}  // namespace laneway::lane
