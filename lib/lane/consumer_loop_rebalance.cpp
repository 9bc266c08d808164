// Partitions come and go: assigned ones start from their committed offsets, revoked ones drain, commit and
// are given back.
#include <algorithm>

#include "lane/consumer_loop.h"
#include "telemetry/log.h"

namespace laneway::lane {
namespace {

constexpr Duration cancel_grace = seconds(1);
constexpr Duration commit_patience = seconds(2);
constexpr Duration committed_patience = seconds(10);

std::atomic<std::uint64_t> last_epoch{0};

}  // namespace

void ConsumerLoop::on_assigned(const kafka::Assigned& assigned) {
  stats_.assigned.add(1);
  telemetry::info("partitions assigned", {{"count", assigned.partitions.size()}});
  arriving_ = assigned.partitions;
  if (arriving_.empty() || stopping_) {
    arriving_.clear();
    if (auto status = consumer_->assign({}); !status) fail(client_broken(status.error().text()));
    return;
  }
  consumer_->request_committed(++arrival_, arriving_, committed_patience);
}

void ConsumerLoop::on_committed(const kafka::Committed& committed) {
  if (committed.request != arrival_ || arriving_.empty()) return;
  std::vector<kafka::CommittedOffset> from = committed.offsets;
  const bool known = committed.error.empty() && from.size() == arriving_.size();
  // While the coordinator tells nothing, the client cannot find out by itself either where to begin: nothing
  // is lost by asking on. For an error of one partition the others, and the group, wait no longer.
  if (!known && (commits_->exact() || !committed.answered)) {
    telemetry::warn("committed offsets not read, asking again", {{"error", committed.error}});
    return consumer_->request_committed(++arrival_, arriving_, committed_patience);
  }
  if (!known) {
    telemetry::warn("committed offsets not read, finished records may run again",
                    {{"error", committed.error}});
    from.clear();
    for (const auto& partition : arriving_) from.push_back({partition, kafka::no_offset, {}});
  }
  arriving_.clear();
  std::vector<std::pair<Entry*, std::unique_ptr<PartitionSource>>> sources;
  for (const auto& start : from) sources.push_back(add_lane(start));
  if (auto status = consumer_->assign(from); !status) fail(client_broken(status.error().text()));
  for (auto& [entry, source] : sources) {
    entry->lane->start(std::move(source), now_);
    make_ready(*entry);
  }
  next_tick_ = now_;
  publish_lanes();
}

/// Its queue is opened before the assignment is made: later, records slip into the group's queue.
std::pair<ConsumerLoop::Entry*, std::unique_ptr<PartitionSource>> ConsumerLoop::add_lane(
    const kafka::CommittedOffset& start) {
  auto* entry = entries_.emplace_back(std::make_unique<Entry>()).get();
  const auto ready = [this, entry] {
    if (entry->signalled.exchange(true, std::memory_order_acq_rel)) return;
    {
      MutexLock lock(shared_mutex_);
      signalled_.push_back(entry);
    }
    any_signalled_.store(true, std::memory_order_release);
    signal_.notify();
  };
  const auto epoch = last_epoch.fetch_add(1) + 1;
  entry->lane = std::make_shared<Lane>(context_, start, epoch, ready);
  telemetry::info("lane assigned", {{"topic", start.partition.topic},
                                    {"partition", start.partition.partition},
                                    {"offset", start.offset},
                                    {"epoch", epoch}});
  return {entry, std::make_unique<KafkaSource>(*consumer_, start.partition, ready)};
}

void ConsumerLoop::on_revoked(const kafka::Revoked& revoked) {
  (revoked.lost ? stats_.lost : stats_.revoked).add(1);
  telemetry::info(revoked.lost ? "partitions lost" : "partitions revoked",
                  {{"count", revoked.partitions.size()}});
  arriving_.clear();
  std::vector<Entry*> lanes;
  for (const auto& partition : revoked.partitions)
    if (auto* entry = find(partition); entry != nullptr && !entry->leaving) lanes.push_back(entry);
  const bool all = !consumer_->cooperative();
  if (revoked.lost) {
    // They are somebody else's already: nothing is committed, nothing is waited for.
    for (auto* entry : lanes) entry->lane->cancel();
    Handover handover{lanes, revoked.partitions, all, true, now_, now_, Handover::Step::committing};
    finish(handover);
    return;
  }
  begin_handover(std::move(lanes), revoked.partitions, all, true);
}

void ConsumerLoop::begin_handover(std::vector<Entry*> lanes, std::vector<kafka::TopicPartition> partitions,
                                  bool all, bool answer) {
  const auto deadline = now_ + context_.lanes.drain;
  for (auto* entry : lanes) {
    entry->leaving = true;
    entry->lane->begin_drain(now_, deadline);
  }
  handovers_.push_back(
      {std::move(lanes), std::move(partitions), all, answer, now_, deadline, Handover::Step::draining});
}

void ConsumerLoop::advance_handovers() {
  for (std::size_t i = 0; i < handovers_.size();) {
    if (!advance(handovers_[i])) {
      ++i;
      continue;
    }
    Handover handover = std::move(handovers_[i]);
    handovers_.erase(handovers_.begin() + static_cast<std::ptrdiff_t>(i));
    finish(handover);
  }
}

/// Its lanes have nothing at work any more, or have had their time.
bool ConsumerLoop::drained(Handover& handover) {
  const bool hurry = stops_.load() > 1;
  for (auto* entry : handover.lanes) {
    entry->lane->work(now_);
    completed_ += entry->lane->take_completed();
  }
  const bool drained =
      std::all_of(handover.lanes.begin(), handover.lanes.end(), [](Entry* e) { return e->lane->drained(); });
  if (!drained && handover.step == Handover::Step::draining && (hurry || now_ >= handover.deadline)) {
    for (auto* entry : handover.lanes) entry->lane->cancel();
    handover.step = Handover::Step::cancelled;
    handover.deadline = now_ + cancel_grace;
    return false;
  }
  return drained || (handover.step == Handover::Step::cancelled && now_ >= handover.deadline);
}

/// True when its lanes can end.
bool ConsumerLoop::advance(Handover& handover) {
  if (handover.given_up) return true;
  if (handover.step == Handover::Step::committing) return !commit_under_way() || now_ >= handover.deadline;
  if (!drained(handover)) return false;
  // One commit at a time, and none while the group is being joined.
  if (commit_under_way() && now_ < commit_begun_ + commit_patience) return false;
  if (!handover.lanes.empty() && consumer_->joining() && now_ < handover.deadline + commit_patience)
    return false;
  if (!handover.lanes.empty()) stats_.drain.record(now_ - handover.begun);  // else a stop has drained them
  handover.step = Handover::Step::committing;
  handover.deadline = now_ + commit_patience;
  if (consumer_->assignment_lost() || fatal()) return true;
  if (preparing_ || !commits_->forget()) return true;
  return !begin_commit(handover.lanes);
}

void ConsumerLoop::finish(Handover& handover) {
  if (commits_->exact() && !handover.given_up && !all_committed(handover.lanes))
    commits_->fail("partitions were given up before what was done of them was committed");
  (void)commits_->forget();
  for (auto* entry : handover.lanes) end_lane(*entry);
  if (!handover.answer) return;
  if (auto status = consumer_->unassign(handover.partitions, handover.all); !status)
    telemetry::warn("giving partitions back failed", {{"error", status.error().text()}});
}

void ConsumerLoop::end_lane(Entry& entry, Lane::Ending ending) {
  const auto abandoned = entry.lane->revoke(now_, ending);
  if (stops_.load() > 0) abandoned_.add(abandoned);
  telemetry::info("lane revoked", {{"topic", entry.lane->partition().topic},
                                   {"partition", entry.lane->partition().partition},
                                   {"epoch", entry.lane->epoch()},
                                   {"offset", entry.lane->stats().committed_offset.get()}});
  ready_.erase(std::remove(ready_.begin(), ready_.end(), &entry), ready_.end());
  const auto place =
      std::find_if(entries_.begin(), entries_.end(), [&](const auto& e) { return e.get() == &entry; });
  zombies_.push_back(std::move(*place));
  entries_.erase(place);
  publish_lanes();
}

/// Lets go of ended lanes whose handlers have returned.
void ConsumerLoop::bury() {
  for (std::size_t i = 0; i < zombies_.size();) {
    auto* entry = zombies_[i].get();
    if (!entry->lane->pool().drained() || !entry->lane->close_pool(Deadline(now_ + milliseconds(100)))) {
      ++i;
      continue;
    }
    {
      MutexLock lock(shared_mutex_);
      signalled_.erase(std::remove(signalled_.begin(), signalled_.end(), entry), signalled_.end());
    }
    ready_.erase(std::remove(ready_.begin(), ready_.end(), entry), ready_.end());
    zombies_.erase(zombies_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

}  // namespace laneway::lane
