// The end of a lane: drain, commit candidates, revoke.
#include <algorithm>

#include "lane/lane.h"

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

void Lane::begin_drain(TimePoint now, TimePoint deadline) {
  completions_.collect(now);
  if (!state_.drain(now)) return;
  stats_->state.set(State::draining);
  rate_.leave(now);
  workload_.leave_downstream();
  completions_.drain();
  id_.log("lane draining", ledger_.committable());
  attempts_.clear();  // not waited for: a drain is everybody's time
  const bool finish = context_.lanes.drain_queued == config::DrainQueued::finish && !gate_.careful();
  gate_.drain();
  workload_.drain(finish, deadline - now);
  work(now);
}

void Lane::cancel() {
  completions_.cancel();
  workload_.cancel();
}

std::uint64_t Lane::revoke(TimePoint now, Ending ending) {
  if (state_.state() == State::revoked) return 0;
  completions_.collect(now);
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
  gate_.leave();
  workload_.close();
  if (ending == Ending::given_up) workload_.abandon();
  stats_->abandoned.add(workload_.abandoned());
  return workload_.abandoned();
}

}  // namespace laneway::lane
