// The oldest record that is not done: it holds back the commits, and its window grows. What is done about it
// is ledger.policy.
#include <algorithm>

#include "lane/lane.h"
#include "telemetry/log.h"

namespace laneway::lane {

void Lane::tick_oldest(TimePoint now) {
  if (!context_.downstream->closed()) last_out_ = now;
  if (!skips_.empty())
    std::erase_if(skips_, [&](const auto& wish) { return !ledger_.is_incomplete(wish.first); });
  const auto oldest = ledger_.oldest_incomplete();
  if (!oldest) {
    stats_->oldest_since_ns.set(0);
    stats_->oldest_due_ns.set(0);
    oldest_since_ = {};
    return;
  }
  if (oldest->sequence != oldest_seen_ || oldest_since_ == TimePoint{}) {
    oldest_since_ = now;
    oldest_reported_ = false;
    done_before_oldest_ = done_before(oldest->sequence);
    stats_->oldest_due_ns.set(due_since(oldest->sequence, now).time_since_epoch().count());
  }
  oldest_seen_ = oldest->sequence;
  stats_->oldest_since_ns.set(oldest_since_.time_since_epoch().count());
  const auto why = outlived(now);
  if (!why) return;
  if (!oldest_reported_) report_oldest(*oldest, now);
  oldest_reported_ = true;
  give_up_oldest(oldest->sequence, *why);
}

/// What waits in a retry topic as it is meant to grows no older.
TimePoint Lane::due_since(Sequence oldest, TimePoint now) const {
  if (!delayed()) return now;
  const auto due = waiting_.due_of([&](const handler::Item& waiting) { return waiting.sequence == oldest; });
  return std::max(now, due.value_or(now));
}

/// How many records were done when this one failed first, or else became the oldest.
std::uint64_t Lane::done_before(Sequence oldest) const {
  auto done = ledger_.done();
  waiting_.each([&](const handler::Item& waiting) {
    if (waiting.sequence == oldest && waiting.failures) done = std::min(done, waiting.failures->done_before);
  });
  return done;
}

/// The window is full because the oldest record stands still while others pass. In order, a window is full as
/// well of records that wait for their keys; then the oldest record is only the next one.
bool Lane::overtaken() const {
  if (!state_.has(Hold::window_full)) return false;
  return !ordered_ || ledger_.done() - done_before_oldest_ >= context_.lanes.max_incomplete / 2;
}

/// Whether the oldest record has held back the others for too long. While the downstream is out, all wait.
std::optional<delivery::DeadLetterReason> Lane::outlived(TimePoint now) const {
  const auto limit = context_.ledger.max_age;
  if (delayed() || oldest_since_ == TimePoint{}) return {};  // in a retry topic records are meant to wait
  if (!context_.downstream->closed()) return {};
  if (limit > Duration::zero() && now - std::max(oldest_since_, last_out_) >= limit)
    return delivery::DeadLetterReason::too_old;
  if (overtaken()) return delivery::DeadLetterReason::window_full;
  return {};
}

void Lane::report_oldest(const Ledger::Position& oldest, TimePoint now) {
  const auto record = detail(now).oldest.value_or(OldestRecord{});
  telemetry::warn(
      "a record holds back the commits",
      {{"topic", id_.partition.topic},
       {"partition", id_.partition.partition},
       {"offset", oldest.offset},
       {"epoch", id_.epoch},
       {"age_ms", now - oldest_since_},
       {"records_behind", ledger_.window() - 1},
       {"attempts", record.attempts},
       {"error", record.error.empty() ? "none; it is at work, or waits behind one that is" : record.error},
       {"policy", context_.ledger.policy == config::LedgerPolicy::hold ? "hold" : "dead_letter"}});
}

/// If it waits for a retry; while it is at work, its next failure is its last. An outage is not the record's
/// fault.
void Lane::give_up_oldest(Sequence oldest, delivery::DeadLetterReason why) {
  if (context_.ledger.policy != config::LedgerPolicy::dead_letter || context_.forward == nullptr) return;
  auto item = waiting_.take([&](const handler::Item& waiting) {
    return waiting.sequence == oldest && waiting.failures && !waiting.failures->unavailable &&
           waiting.route() == handler::Route::work;
  });
  if (!item) return;
  bytes_ -= std::min(bytes_, memory_of(*item));
  give_up(*item, handler::Route::dead_letter, why);
  run_alone(std::move(*item));
}

}  // namespace laneway::lane
