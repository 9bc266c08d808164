// What the loop does when partitions come and go (rebalance_machine.h).
#include <algorithm>

#include "lane/member/consumer_loop.h"
#include "telemetry/log.h"

namespace laneway::lane {
namespace {

constexpr Duration answer_patience = seconds(2);
constexpr Duration committed_patience = seconds(10);

std::atomic<std::uint64_t> last_epoch{0};

}  // namespace

void ConsumerLoop::on_assigned(const kafka::Assigned& assigned) {
  stats_.assigned.add(1);
  telemetry::info("partitions assigned", {{"count", assigned.partitions.size()}});
  rebalances_->assigned(assigned.partitions, consumer_->cooperative(), now_);
}

void ConsumerLoop::on_revoked(const kafka::Revoked& revoked) {
  (revoked.lost ? stats_.lost : stats_.revoked).add(1);
  telemetry::info(revoked.lost ? "partitions lost" : "partitions revoked",
                  {{"count", revoked.partitions.size()}});
  rebalances_->revoked(revoked.partitions, revoked.lost, consumer_->cooperative(), now_);
}

void ConsumerLoop::ask_committed(std::uint64_t request, const Partitions& partitions) {
  consumer_->request_committed(request, partitions, committed_patience);
}

void ConsumerLoop::assign(const std::vector<kafka::CommittedOffset>& from) {
  std::vector<std::pair<Entry*, std::unique_ptr<PartitionSource>>> sources;
  for (const auto& start : from)
    sources.push_back(add_lane({start.partition, std::max(start.offset, kafka::no_offset), start.metadata}));
  if (auto status = consumer_->assign(from); !status) fail(client_broken(status.error().text()));
  for (auto& [entry, source] : sources) {
    entry->lane->start(std::move(source), now_);
    make_ready(*entry);
  }
}

/// Its queue is opened before the assignment is made: later, records slip into the group's queue.
std::pair<ConsumerLoop::Entry*, std::unique_ptr<PartitionSource>> ConsumerLoop::add_lane(
    const kafka::CommittedOffset& start) {
  auto* entry = (entries_[start.partition] = std::make_unique<Entry>()).get();
  entry->tick = ticks_.emplace(now_, entry);
  lanes_changed_ = true;
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

void ConsumerLoop::unassign(const Partitions& partitions, bool all) {
  if (auto status = consumer_->unassign(partitions, all); !status)
    telemetry::warn("giving partitions back failed", {{"error", status.error().text()}});
}

std::vector<ConsumerLoop::Entry*> ConsumerLoop::entries_of(const Partitions& partitions) const {
  std::vector<Entry*> entries;
  for (const auto& partition : partitions)
    if (auto* entry = find(partition)) entries.push_back(entry);
  return entries;
}

void ConsumerLoop::drain(const Partitions& lanes, TimePoint deadline) {
  for (auto* entry : entries_of(lanes)) {
    entry->leaving = true;
    entry->lane->begin_drain(now_, deadline);
  }
}

void ConsumerLoop::cancel(const Partitions& lanes) {
  for (auto* entry : entries_of(lanes)) entry->lane->cancel();
}

bool ConsumerLoop::drained(const kafka::TopicPartition& partition) {
  auto& lane = *find(partition)->lane;
  lane.work(now_);
  completed_ += lane.take_completed();
  return lane.drained();
}

bool ConsumerLoop::commit_blocked(TimePoint since) const {
  if (commit_under_way() && now_ < commit_begun_ + answer_patience) return true;
  return consumer_->join_under_way() && now_ < since + answer_patience;
}

bool ConsumerLoop::commit(const Partitions& lanes) {
  if (consumer_->assignment_lost() || (fatal() && !ends_by_silence_)) return false;
  if (preparing_ || !commits_->forget()) return false;
  return begin_commit(entries_of(lanes));
}

bool ConsumerLoop::refused_for_now(const Partitions& lanes) const {
  const auto entries = entries_of(lanes);
  return std::any_of(entries.begin(), entries.end(),
                     [](const Entry* entry) { return entry->refused_for_now; });
}

void ConsumerLoop::end(const Partitions& lanes, bool given_up) {
  const auto entries = entries_of(lanes);
  if (commits_->exact() && !given_up && !all_committed(entries))
    commits_->fail("partitions were given up before what was done of them was committed");
  for (auto* entry : entries) end_lane(*entry);
}

void ConsumerLoop::end_lane(Entry& entry, Lane::Ending ending) {
  const auto abandoned = entry.lane->revoke(now_, ending);
  if (stops_.load() > 0) abandoned_.add(abandoned);
  telemetry::info("lane revoked", {{"topic", entry.lane->partition().topic},
                                   {"partition", entry.lane->partition().partition},
                                   {"epoch", entry.lane->epoch()},
                                   {"offset", entry.lane->stats().committed_offset.get()}});
  entry.ended = true;
  ticks_.erase(entry.tick);
  worked_.erase(&entry);
  auto taken = entries_.extract(entry.lane->partition());
  zombies_.push_back(std::move(taken.mapped()));
  lanes_changed_ = true;
}

/// Lets go of ended lanes whose handlers have returned, and that no list knows any more.
void ConsumerLoop::bury() {
  std::erase_if(zombies_, [this](const auto& zombie) {
    return zombie->lane->pool().drained() && zombie->lane->close_pool(Deadline(now_ + milliseconds(100))) &&
           !zombie->ready && !zombie->signalled.load(std::memory_order_acquire);
  });
}

}  // namespace laneway::lane
