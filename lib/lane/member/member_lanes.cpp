#include "lane/member/member_lanes.h"

#include <algorithm>

namespace laneway::lane {
namespace {

std::atomic<std::uint64_t> last_epoch{0};

}  // namespace

MemberLane& MemberLanes::add(const StoredCommit& start, TimePoint now) {
  auto& added = *(lanes_[start.partition] = std::make_unique<MemberLane>());
  added.tick = ticks_.emplace(now, &added);
  changed_ = true;
  added.on_ready = [this, lane = &added] {
    if (lane->signalled.exchange(true, std::memory_order_acq_rel)) return;
    {
      MutexLock lock(mutex_);
      signalled_.push_back(lane);
    }
    any_signalled_.store(true, std::memory_order_release);
    signal_.notify();
  };
  added.lane = std::make_shared<Lane>(context_, start, last_epoch.fetch_add(1) + 1, added.on_ready);
  added.lane->id().log("lane assigned", start.offset);
  return added;
}

MemberLane* MemberLanes::find(const kafka::TopicPartition& partition) const {
  const auto found = lanes_.find(partition);
  return found == lanes_.end() ? nullptr : found->second.get();
}

std::vector<MemberLane*> MemberLanes::all() const {
  std::vector<MemberLane*> lanes;
  for (const auto& [partition, lane] : lanes_) lanes.push_back(lane.get());
  return lanes;
}

std::vector<MemberLane*> MemberLanes::of(const std::vector<kafka::TopicPartition>& partitions) const {
  std::vector<MemberLane*> lanes;
  for (const auto& partition : partitions)
    if (auto* lane = find(partition)) lanes.push_back(lane);
  return lanes;
}

void MemberLanes::nothing_to_commit(MemberLane& lane) {
  if (std::exchange(lane.worked, false)) worked_.erase(&lane);
}

std::uint64_t MemberLanes::end(MemberLane& lane, Lane::Ending ending, TimePoint now) {
  const auto abandoned = lane.lane->revoke(now, ending);
  lane.lane->id().log("lane revoked", lane.lane->stats().committed.offset.get());
  lane.ended = true;
  ticks_.erase(lane.tick);
  worked_.erase(&lane);
  auto taken = lanes_.extract(lane.lane->partition());
  ended_.push_back(std::move(taken.mapped()));
  changed_ = true;
  return abandoned;
}

void MemberLanes::make_ready(MemberLane& lane) {
  if (!lane.ready) ready_.push_back(&lane);
  lane.ready = true;
}

void MemberLanes::work(TimePoint now) {
  if (any_signalled_.exchange(false, std::memory_order_acq_rel)) {
    MutexLock lock(mutex_);
    for (auto* lane : signalled_) {
      lane->signalled.store(false, std::memory_order_release);
      make_ready(*lane);
    }
    signalled_.clear();
  }
  std::size_t kept = 0;
  for (auto* lane : ready_) {
    if (lane->ended) {
      lane->ready = false;
      continue;
    }
    lane->ready = lane->lane->work(now);
    after_work(*lane);
    if (lane->ready) ready_[kept++] = lane;
    // Most finished claims signal nobody (execution.h): the tick collects them.
    if (!lane->ready && lane->tick->first > now + milliseconds(50)) tick_at(*lane, now + milliseconds(50));
  }
  ready_.resize(kept);
}

void MemberLanes::after_work(MemberLane& lane) {
  since_commit.completed += lane.lane->take_completed();
  since_commit.wanted = since_commit.wanted || lane.lane->wants_commit();
  if (!std::exchange(lane.worked, true)) worked_.insert(&lane);
}

bool MemberLanes::drained(MemberLane& lane, TimePoint now) {
  lane.lane->work(now);
  after_work(lane);
  return lane.lane->drained();
}

void MemberLanes::tick_at(MemberLane& lane, TimePoint at) {
  auto tick = ticks_.extract(lane.tick);
  tick.key() = at;
  lane.tick = ticks_.insert(std::move(tick));
}

std::optional<TimePoint> MemberLanes::next_tick() const {
  if (ticks_.empty()) return std::nullopt;
  return ticks_.begin()->first;
}

void MemberLanes::tick(TimePoint now, const std::function<void(const LaneSilence::Demand&)>& on_demand) {
  while (!ticks_.empty() && ticks_.begin()->first <= now) {
    auto& lane = *ticks_.begin()->second;
    tick_at(lane, std::max(lane.lane->tick(now), now + nanoseconds(1)));
    after_work(lane);
    if (const auto& demand = lane.lane->silence_demand()) on_demand(*demand);
  }
}

void MemberLanes::bury(TimePoint now) {
  std::erase_if(ended_, [now](const auto& lane) {
    return lane->lane->pools_drained() && lane->lane->close_pool(Deadline{now + milliseconds(100)}) &&
           !lane->ready && !lane->signalled.load(std::memory_order_acquire);
  });
}

bool MemberLanes::any_ending() const {
  return std::any_of(ended_.begin(), ended_.end(),
                     [](const auto& lane) { return lane->lane->pools_drained(); });
}

void MemberLanes::publish() {
  if (!std::exchange(changed_, false)) return;
  std::vector<std::shared_ptr<const Lane>> lanes;
  for (const auto& [partition, lane] : lanes_) lanes.push_back(lane->lane);
  MutexLock lock(mutex_);
  published_ = std::move(lanes);
}

std::vector<std::shared_ptr<const Lane>> MemberLanes::published() const {
  MutexLock lock(mutex_);
  return published_;
}

}  // namespace laneway::lane
