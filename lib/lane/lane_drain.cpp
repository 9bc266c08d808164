// The end of a lane: drain, commit candidates, revoke.
#include <algorithm>

#include "lane/lane.h"
#include "telemetry/log.h"
#include "tracing/record_trace.h"

namespace laneway::lane {

std::optional<kafka::CommittedOffset> Lane::commit_candidate(std::size_t max_map) {
  if (judge_.in_doubt()) return std::nullopt;
  return commits_.candidate(state_.state() == State::draining, max_map);
}

bool Lane::committed(const kafka::CommittedOffset& offset) {
  return commits_.committed(offset) && gate_.closed();
}

void Lane::hold_for_map(bool too_long, TimePoint now) {
  if (state_.set(Hold::map_full, too_long, now)) show_state();
}

/// Whether everything that has been taken can be finished in time, by the measured service time. Records of
/// one key take their time one after the other, however many workers there are.
bool Lane::fits(Duration left) const {
  const auto service = pool_->snapshot().service_time;
  const auto in_a_row = std::max<std::uint64_t>(work_left() / context_.lanes.workers, keys_.longest()) + 1;
  return service * static_cast<std::int64_t>(in_a_row) * 5 / 4 < left;
}

void Lane::give_back_pending() {
  for (const auto& pending : std::exchange(pending_, {})) {
    pending.batch->unfinished -= pending.batch->size - pending.begin;
    if (pending.batch->unfinished == 0) recycle(pending.batch);
  }
}

/// Of records that waited outside any batch.
void Lane::let_go(const std::vector<handler::Item>& items) {
  for (const auto& item : items) bytes_ -= std::min(bytes_, memory_of(item));
}

void Lane::begin_drain(TimePoint now, TimePoint deadline) {
  collect(now);
  if (!state_.drain(now)) return;
  stats_->state.set(State::draining);
  rate_.leave(now);
  context_.downstream->leave(&execution_);
  id_.log("lane draining", ledger_.committable());
  attempts_.clear();  // not waited for: a drain is everybody's time
  const bool finish = context_.lanes.drain_queued == config::DrainQueued::finish && !gate_.careful();
  gate_.drain();
  if (!finish)
    give_back_unbegun();
  else if (!fits(deadline - now))
    give_back_beyond(deadline - now);
  execution_.set_eager(true);
  work(now);
}

/// What cannot be finished in the time that is left, by the measured service time.
void Lane::give_back_beyond(Duration left) {
  give_back_pending();
  const auto snapshot = pool_->snapshot();
  std::uint64_t fitting = 0;
  if (snapshot.service_time > Duration::zero())
    fitting = static_cast<std::uint64_t>(left * 4 / 5 / snapshot.service_time) * context_.lanes.workers;
  const auto keep = static_cast<std::uint32_t>(std::min<std::uint64_t>(fitting, snapshot.queued));
  withdraw(keep);
  let_go(keys_.clear((fitting - keep) / std::max<std::uint64_t>(keys_.keys(), context_.lanes.workers)));
}

void Lane::give_back_unbegun() {
  gives_back_ = true;
  give_back_pending();
  let_go(keys_.clear());
  withdraw(0);
  pool_->want_back();
}

void Lane::withdraw(std::uint32_t keep) {
  for (const auto& range : pool_->withdraw(keep)) {
    auto& batch = static_cast<handler::RecordBatch&>(*range.batch);
    batch.unfinished -= range.count();
    if (batch.unfinished == 0) recycle(&batch);
  }
}

void Lane::cancel() {
  cancelled_ = true;
  execution_.set_cut_off();
  give_back_unbegun();
  pool_->cancel();
}

std::uint64_t Lane::revoke(TimePoint now, Ending ending) {
  if (state_.state() == State::revoked) return 0;
  collect(now);
  attempts_.log().more_letters(now, true);
  const bool lost = state_.state() != State::draining;
  if (lost) {
    state_.drain(now);
    cancel();
  }
  state_.revoke(now);
  stats_->state.set(State::revoked);
  source_.reset();
  rate_.leave(now);
  context_.downstream->leave(&execution_);
  gate_.leave();
  pool_->close();
  if (ending == Ending::given_up)
    for (const auto& range : pool_->in_flight()) abandon(range);
  stats_->abandoned.add(abandoned_);
  return abandoned_;
}

/// What a worker has and did not answer. Its records are the worker's: only their numbers may be read.
void Lane::abandon(const pool::Range& range) {
  const auto& batch = static_cast<const handler::RecordBatch&>(*range.batch);
  if (!current(batch)) return;
  for (auto i = range.begin; i < range.end; ++i)
    log_abandoned(ledger_.offset_of(batch.items[i].sequence), batch.items[i].attempt);
}

void Lane::log_abandoned(std::int64_t offset, std::uint32_t attempt, const kafka::Record* record) {
  ++abandoned_;
  telemetry::warn("abandoned", {{"topic", id_.partition.topic},
                                {"partition", id_.partition.partition},
                                {"offset", offset},
                                {"epoch", id_.epoch},
                                {"attempt", attempt},
                                tracing::TraceField(record)});
}

}  // namespace laneway::lane
