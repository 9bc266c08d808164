// What is finished is committed; where a commit fails that must not, the lanes start over.
#include <algorithm>
#include <set>

#include "lane/member/consumer_loop.h"
#include "telemetry/log.h"

namespace laneway::lane {
namespace {

/// What was written must not wait for long: brokers abort a transaction that is open for too long.
constexpr Duration longest_wait = seconds(3);

}  // namespace

void ConsumerLoop::commit_if_due() {
  if (commit_under_way() || !may_commit()) return;
  const bool wanted = commit_wanted_ && !commit_refused_;
  if (now_ < next_commit_ && completed_ < settings_.commit.every && !wanted) return;
  (void)begin_commit(worked_lanes());
}

/// A commit during a join can cost the assignment (librdkafka before 2.10). In a transaction it cannot, but
/// it fails if the group has a new generation meanwhile.
bool ConsumerLoop::may_commit() const {
  if (commits_->exact()) return !consumer_->join_under_way() || now_ >= next_commit_ + longest_wait;
  return rebalances_->client_waits() && !consumer_->join_under_way();
}

/// Without those that leave, which are committed when they have drained (RebalanceSteps::commit).
std::vector<ConsumerLoop::Entry*> ConsumerLoop::worked_lanes() const {
  std::vector<Entry*> lanes(worked_.begin(), worked_.end());
  std::erase_if(lanes, [](const Entry* entry) { return entry->leaving; });
  return lanes;
}

std::vector<ConsumerLoop::Entry*> ConsumerLoop::all_lanes() const {
  std::vector<Entry*> lanes;
  for (const auto& [partition, entry] : entries_) lanes.push_back(entry.get());
  return lanes;
}

/// False when there was nothing to commit or it could not be asked for.
bool ConsumerLoop::begin_commit(const std::vector<Entry*>& lanes) {
  completed_ = 0;
  commit_wanted_ = false;
  next_commit_ = now_ + settings_.commit.interval;
  commit_begun_ = now_;
  preparing_ = !commits_->prepared();
  return preparing_ || send_commit(commits_->exact() ? all_lanes() : lanes);
}

void ConsumerLoop::advance_commit() {
  if (preparing_ && commits_->prepared()) {
    preparing_ = false;
    (void)send_commit(all_lanes());
  }
  if (const auto result = commits_->result(now_)) on_commit_result(*result);
}

bool ConsumerLoop::send_commit(const std::vector<Entry*>& lanes) {
  std::vector<kafka::CommittedOffset> offsets;
  bool whole = true;
  committing_.clear();
  for (auto* entry : lanes) {
    auto& lane = *entry->lane;
    if (commits_->exact()) lane.work(now_);  // all that was answered is in the ledgers
    auto candidate = lane.commit_candidate(commits_->exact() ? max_map_bytes : map_limit_);
    const bool fits = !candidate || !commits_->exact() || candidate->metadata.size() <= map_limit_;
    if (commits_->exact() && lane.position_in_doubt()) whole = false;
    lane.hold_for_map(!fits, now_);
    whole = whole && fits;
    // What is on its way is looked at again: its answer is not known yet.
    if (!candidate && std::exchange(entry->worked, false)) worked_.erase(entry);
    if (!candidate) continue;
    committing_.push_back({lane.epoch(), *candidate});
    offsets.push_back(std::move(*candidate));
  }
  if (offsets.empty() || !whole) {
    commits_->put_off();
    return false;
  }
  const auto status = commits_->commit(std::move(offsets), now_);
  if (!status) on_commit_failed(status.error().text());
  return status.ok();
}

void ConsumerLoop::on_commit_failed(const std::string& why) {
  telemetry::log_repeating(telemetry::Level::warn, "commit failed: " + why, "commit failed",
                           {{"error", why}});
  stats_.commits_failed.add(1);
  committing_.clear();
}

void ConsumerLoop::on_commit_result(const kafka::CommitResult& result) {
  stats_.commit_latency.record(now_ - commit_begun_);
  const std::set<kafka::TopicPartition> done(result.committed.begin(), result.committed.end());
  for (const auto& [epoch, offset] : committing_) {
    auto* entry = find(offset.partition);
    if (entry == nullptr || entry->lane->epoch() != epoch) continue;
    const bool acknowledged = done.contains(offset.partition);
    entry->refused_for_now = !acknowledged && result.passing && !commits_->exact();
    if (acknowledged && entry->lane->committed(offset)) make_ready(*entry);
  }
  commit_refused_ = !result.error.empty();
  if (result.metadata_too_long && send_shorter()) return;
  if (!result.error.empty()) return on_commit_failed(result.error);
  committing_.clear();
  stats_.commits_acknowledged.add(1);
}

/// What was refused for its length is committed at once with half of its completion map, so that a handover
/// does not wait in vain; more would be refused again, so the limit stays. What the map lacks may run again.
bool ConsumerLoop::send_shorter() {
  std::size_t longest = 0;
  std::vector<Entry*> lanes;
  for (const auto& [epoch, offset] : committing_) {
    longest = std::max(longest, offset.metadata.size());
    auto* entry = find(offset.partition);
    if (entry != nullptr && entry->lane->epoch() == epoch) lanes.push_back(entry);
  }
  if (longest / 2 >= map_limit_) return false;
  map_limit_ = longest / 2;
  telemetry::warn(
      "completion maps are longer than the brokers take; those of commits are shorter from now on",
      {{"bytes", longest}, {"limit", map_limit_}, {"setting", "offset.metadata.max.bytes"}});
  if (commits_->exact()) return false;  // its transaction has failed; the next one waits for shorter maps
  stats_.commits_failed.add(1);
  commit_begun_ = now_;
  return send_commit(lanes);
}

/// Nothing of these lanes is left to be committed.
bool ConsumerLoop::all_committed(const std::vector<Entry*>& lanes) {
  return std::all_of(lanes.begin(), lanes.end(),
                     [](Entry* entry) { return entry->lane->drained() && !entry->lane->has_uncommitted(); });
}

void ConsumerLoop::start_over_if_failed() {
  const auto why = commits_->failure();
  if (!why) return;
  telemetry::log_repeating(telemetry::Level::warn, "transaction failed: " + *why,
                           "transaction aborted, its records are done again", {{"error", *why}});
  preparing_ = false;
  committing_.clear();
  rebalances_->give_up_handovers();
  std::vector<Entry*> lanes;
  for (auto* entry : all_lanes())
    if (!entry->leaving && entry->lane->begun()) lanes.push_back(entry);
  std::vector<kafka::CommittedOffset> from;
  for (auto* entry : lanes) {
    from.push_back(entry->lane->starting_point());
    end_lane(*entry, Lane::Ending::starts_over);
  }
  commits_->start_over();  // after the handlers were told to stop: none of them writes into the next one
  for (const auto& start : from) {
    auto [entry, source] = add_lane(start);
    source->seek(start.offset);
    entry->lane->start(std::move(source), now_);
    make_ready(*entry);
  }
}

}  // namespace laneway::lane
