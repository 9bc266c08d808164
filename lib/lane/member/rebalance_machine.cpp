#include "lane/member/rebalance_machine.h"

#include <algorithm>
#include <utility>

#include "lane/commit/stored_commit.h"
#include "telemetry/log.h"

namespace laneway::lane {
namespace {

constexpr Duration cancel_grace = seconds(1);
constexpr Duration commit_patience = seconds(2);
constexpr Duration commit_pause = milliseconds(100);
constexpr Duration question_pause = seconds(1);

}  // namespace

void RebalanceMachine::arrived(Kind kind, Partitions partitions, TimePoint now) {
  if (!incremental_) owned_.clear();
  for (const auto& partition : partitions) {
    if (kind == Kind::assigned)
      owned_.insert(partition);
    else
      owned_.erase(partition);
  }
  Event event{kind, std::move(partitions)};
  end_what_moved_on(event);
  events_.push_back(std::move(event));
  advance(now);
}

/// Ends the lanes whose partitions stop belonging to this member when the event arrives, whatever answers are
/// due before.
void RebalanceMachine::end_what_moved_on(const Event& event) {
  Partitions moved;
  if (!incremental_ && event.kind != Kind::revoked) moved = all_lanes();
  if (incremental_ && event.kind == Kind::lost) moved = event.partitions;
  if (incremental_ && event.kind != Kind::lost)
    for (const auto& before : events_)
      if (before.kind == Kind::revoked)
        moved.insert(moved.end(), before.partitions.begin(), before.partitions.end());
  std::set<kafka::TopicPartition> kept;
  if (event.kind == Kind::assigned) kept.insert(event.partitions.begin(), event.partitions.end());
  Partitions gone;
  for (const auto& partition : moved)
    if (!kept.contains(partition) && lanes_.erase(partition) > 0) gone.push_back(partition);
  if (gone.empty()) return;
  const auto is_gone = [this](const auto& partition) { return !lanes_.contains(partition); };
  for (auto& handover : handovers_) {
    std::erase_if(handover.lanes, is_gone);
    std::erase_if(handover.at_work, is_gone);
  }
  std::erase_if(handovers_, [](const Handover& handover) { return handover.lanes.empty(); });
  steps_.cancel(gone);
  steps_.end(gone, false);
}

void RebalanceMachine::advance(TimePoint now, bool hurry) {
  for (std::size_t i = 0; i < handovers_.size();) {
    if (!advance(handovers_[i], now, hurry)) {
      ++i;
      continue;
    }
    const Handover handover = std::move(handovers_[i]);
    handovers_.erase(handovers_.begin() + static_cast<std::ptrdiff_t>(i));
    steps_.end(handover.lanes, handover.given_up);
    for (const auto& lane : handover.lanes) lanes_.erase(lane);
  }
  while (!events_.empty() && serve(events_.front(), now)) events_.pop_front();
  if (ask_at_ && now >= *ask_at_ && events_.empty() && !arriving_.empty()) ask();
}

/// Returns true if the event has been answered, or the answer is under way.
bool RebalanceMachine::serve(Event& event, TimePoint now) {
  const bool assigned = event.kind == Kind::assigned;
  if (!event.begun) {
    event.begun = true;
    if (!assigned && !arriving_.empty()) stop_arriving(event);
    // An incremental assignment does not touch the other lanes, but waits for a lane that had one of its
    // partitions before.
    const auto partitions = incremental_ ? event.partitions : all_lanes();
    if (!incremental_ || !assigned) begin_handover(partitions, now);
    for (const auto& partition : partitions)
      if (const auto lane = lanes_.find(partition); lane != lanes_.end() && lane->second != stays)
        event.awaits.insert(lane->second);
  }
  if (std::any_of(handovers_.begin(), handovers_.end(),
                  [&](const Handover& handover) { return event.awaits.contains(handover.id); }))
    return false;
  if (assigned)
    serve_assigned(event);
  else
    answer_revoked(event);
  return true;
}

void RebalanceMachine::answer_revoked(const Event& event) {
  if (!incremental_) {
    in_client_.clear();
    return steps_.unassign(event.partitions, true);
  }
  // The client refuses a list with a partition that was never assigned, and would wait forever for another
  // list.
  Partitions back;
  for (const auto& partition : event.partitions)
    if (in_client_.erase(partition) > 0) back.push_back(partition);
  steps_.unassign(back, false);
}

void RebalanceMachine::serve_assigned(const Event& event) {
  if (!incremental_) {
    arriving_.clear();
    in_client_.clear();
  }
  if (!stopping_)
    for (const auto& partition : event.partitions)
      if (!lanes_.contains(partition)) arriving_.insert(partition);
  ++request_;
  if (arriving_.empty()) return steps_.assign({});
  owes_answer_ = true;
  ask();
}

/// An assignment whose offsets are not known yet loses the partitions that are revoked meanwhile, and keeps
/// the rest.
void RebalanceMachine::stop_arriving(const Event& event) {
  const std::set<kafka::TopicPartition> gone(event.partitions.begin(), event.partitions.end());
  std::erase_if(arriving_, [&](const auto& partition) { return !incremental_ || gone.contains(partition); });
  ++request_;
  if (!arriving_.empty()) ask();
}

void RebalanceMachine::ask() {
  ask_at_.reset();
  steps_.ask_committed(++request_, {arriving_.begin(), arriving_.end()});
}

/// The answer came at once, and the same answer would come again.
void RebalanceMachine::ask_later(TimePoint now) {
  ++request_;  // each question has one answer
  ask_at_ = now + question_pause;
}

/// While the coordinator does not answer, the client cannot find the starting offsets itself either, so
/// nothing is lost by asking again. If one partition has an error, the others and the group do not wait any
/// longer. Where partitions can be added later, that partition waits: its commit may hold a suspension.
void RebalanceMachine::committed_offsets(const kafka::Committed& committed, TimePoint now) {
  if (committed.request != request_ || arriving_.empty()) return;
  auto from = committed.offsets;
  if (needs_.topic_id)
    std::erase_if(from, [](const auto& start) { return StoredCommit::read(start).lacks_id(); });
  std::set<kafka::TopicPartition> missing;
  if (from.size() < arriving_.size()) missing = arriving_;
  for (const auto& start : from) missing.erase(start.partition);
  if (!missing.empty()) warn_missing(missing, committed);
  if (!committed.answered) return ask();
  if (!missing.empty() && needs_.offset && !incremental_) return ask_later(now);
  // The client would take additional partitions for its answer to an event that waits.
  if (!owes_answer_ && !events_.empty()) return ask_later(now);
  if (!incremental_)
    for (const auto& partition : std::exchange(missing, {}))
      from.push_back({partition, kafka::unread_offset, {}});
  begin_lanes(from);
  arriving_ = std::move(missing);
  if (!arriving_.empty()) ask_later(now);
}

void RebalanceMachine::warn_missing(const std::set<kafka::TopicPartition>& missing,
                                    const kafka::Committed& committed) const {
  const bool again = needs_.offset || incremental_ || !committed.answered;
  const char* what = again ? "committed offsets not read, asking again"
                           : "committed offsets not read, finished records may run again";
  telemetry::log_repeating(
      telemetry::Level::warn, what, what,
      {{"partitions", missing.size()},
       {"first", missing.begin()->text()},
       {"error", committed.error.empty() ? "the id of the topic is not known" : committed.error}});
}

/// Answers an assignment, or adds partitions to those that were answered before.
void RebalanceMachine::begin_lanes(const std::vector<kafka::CommittedOffset>& from) {
  if (!std::exchange(owes_answer_, false) && from.empty()) return;
  for (const auto& start : from) {
    lanes_.emplace(start.partition, stays);
    in_client_.insert(start.partition);
  }
  steps_.assign(from);
}

void RebalanceMachine::stop(TimePoint now) {
  stopping_ = true;
  // Without an answer, the assignment would keep the client from leaving the group.
  if (!arriving_.empty()) begin_lanes({});
  arriving_.clear();
  begin_handover(all_lanes(), now);
}

bool RebalanceMachine::compare(const Partitions& client, TimePoint now) {
  if (!at_rest() || stopping_) return true;
  in_client_ = {client.begin(), client.end()};
  auto known = owned_;
  known.insert(client.begin(), client.end());
  for (const auto& [partition, handover] : lanes_) known.insert(partition);
  Partitions again;
  Partitions differing;
  std::size_t without_lane = 0;
  for (const auto& partition : known) {
    const bool owned = owned_.contains(partition);
    const bool has_lane = lanes_.contains(partition);
    if (owned == in_client_.contains(partition) && owned == has_lane) continue;
    differing.push_back(partition);
    if (owned) again.push_back(partition);
    if (!has_lane) ++without_lane;
  }
  if (differing.empty()) return true;
  telemetry::error("the client's assignment differs from the lanes and is repaired",
                   {{"without_lane", without_lane},
                    {"not_read", differing.size() - without_lane},
                    {"first", differing.front().text()}});
  if (!incremental_) again.assign(owned_.begin(), owned_.end());
  if (incremental_) arrived(Kind::revoked, std::move(differing), now);
  arrived(Kind::assigned, std::move(again), now);
  return false;
}

void RebalanceMachine::give_up_handovers() {
  for (auto& handover : handovers_) {
    steps_.cancel(handover.lanes);
    handover.given_up = true;
  }
}

/// Begins a handover of the candidates that are not leaving yet.
void RebalanceMachine::begin_handover(const Partitions& candidates, TimePoint now) {
  Partitions leaving;
  for (const auto& partition : candidates)
    if (const auto lane = lanes_.find(partition); lane != lanes_.end() && lane->second == stays) {
      leaving.push_back(partition);
      lane->second = last_handover_ + 1;
    }
  if (leaving.empty()) return;
  steps_.drain(leaving, now + drain_);
  handovers_.push_back({++last_handover_, leaving, leaving, now, now + drain_});
}

/// Returns true if the lanes of the handover can end.
bool RebalanceMachine::advance(Handover& handover, TimePoint now, bool hurry) {
  using Step = Handover::Step;
  if (handover.given_up) return true;
  if (handover.step == Step::committing) return committed(handover, now);
  // Only the last lane is asked, until it has drained: if thousands of lanes end one by one, each is asked
  // about once.
  auto& at_work = handover.at_work;
  while (!at_work.empty() && steps_.drained(at_work.back())) at_work.pop_back();
  const bool late = now >= handover.deadline;
  if (!at_work.empty() && handover.step == Step::draining && (hurry || late)) {
    std::erase_if(at_work, [this](const auto& lane) { return steps_.drained(lane); });
    steps_.cancel(at_work);
    handover.step = Step::cancelled;
    handover.deadline = now + cancel_grace;
    return false;
  }
  if (!at_work.empty() && !late) return false;
  if (steps_.commit_blocked(handover.deadline)) return false;
  steps_.drained_after(now - handover.begun);
  handover.step = Step::committing;
  handover.deadline = now + commit_patience;
  return commit(handover, now);
}

/// Returns true if there is nothing to wait for.
bool RebalanceMachine::commit(Handover& handover, TimePoint now) {
  handover.next_commit = now + commit_pause;
  return !steps_.commit(handover.lanes);
}

/// Asks again a coordinator that is starting, for example after its predecessor died, or that has let the
/// members in and waits for the assignments. Otherwise the next owner of the partitions would repeat the work
/// that is not committed.
bool RebalanceMachine::committed(Handover& handover, TimePoint now) {
  const bool in_time = now < handover.deadline;
  if (steps_.commit_under_way()) {
    if (!in_time) steps_.forget_commit();
    return !in_time;
  }
  if (!in_time || !steps_.refused_for_now(handover.lanes)) return true;
  const bool may_commit = now >= handover.next_commit && !steps_.commit_blocked(handover.deadline);
  return may_commit && commit(handover, now);
}

Partitions RebalanceMachine::all_lanes() const {
  Partitions all;
  for (const auto& [partition, handover] : lanes_) all.push_back(partition);
  return all;
}

}  // namespace laneway::lane
