#include "lane/member/member_commits.h"

#include <algorithm>
#include <set>
#include <utility>

#include "telemetry/log.h"

namespace laneway::lane {
namespace {

/// Written output must not wait for long: brokers abort a transaction that is open for too long.
constexpr Duration longest_wait = seconds(3);
/// How long requests stay small after a refusal. The brokers' limit may have been raised since.
constexpr Duration small_requests = seconds(600);
/// If smaller requests do not help, their size was not the reason.
constexpr Duration no_smaller_requests = seconds(60);
constexpr std::size_t least_request = 1000;

}  // namespace

MemberCommits::MemberCommits(const kafka::Consumer& consumer, std::unique_ptr<CommitPath> commit_path,
                             MemberLanes& lanes, LoopStats& stats)
    : path(std::move(commit_path)), consumer_(consumer), lanes_(lanes), stats_(stats) {}

void MemberCommits::follow(const config::Commit& settings, TimePoint now) {
  settings_ = settings;
  next_ = std::min(next_, now + settings.interval);
}

void MemberCommits::commit_if_due(bool lanes_stay_ours, TimePoint now) {
  if (under_way()) return;
  const auto& [completed, wanted] = lanes_.since_commit;
  if (now < next_ && completed < settings_.every && (!wanted || refused_)) return;
  // A commit during a join can cost the assignment (librdkafka before 2.10). In a transaction it cannot, but
  // it fails if the group has a new generation meanwhile.
  const bool joins = consumer_.join_under_way();
  if (path->exact ? joins && now < next_ + longest_wait : joins || !lanes_stay_ours) return;
  (void)begin(lanes_.worked(), now);
}

bool MemberCommits::begin(const std::vector<MemberLane*>& lanes, TimePoint now) {
  lanes_.since_commit = {};
  next_ = now + settings_.interval;
  begun_ = now;
  preparing_ = path->exact && !path->prepared();
  return preparing_ || send(path->exact ? lanes_.all() : lanes, now);
}

void MemberCommits::advance(TimePoint now) {
  if (preparing_ && path->prepared()) {
    preparing_ = false;
    (void)send(lanes_.all(), now);
  }
  if (!sent_) return;
  const auto result = path->result(now);
  if (!result) return;
  sent_ = false;
  on_result(*result, now);
}

bool MemberCommits::send(const std::vector<MemberLane*>& lanes, TimePoint now) {
  if (now >= limit_ends_) request_limit_ = kafka::request_bytes;
  // A request holds several offsets as long as they fit; so a map has at most half of it. A map that must be
  // whole is not limited so: all lanes would wait for that lane, and perhaps the size was not the reason. An
  // offset that is larger than a request is alone in one.
  const auto most = path->exact ? map_limit_ : std::min(map_limit_, request_limit_ / 2);
  std::vector<kafka::CommittedOffset> offsets;
  bool whole = true;
  committing_.clear();
  for (auto* member : lanes) {
    auto& lane = *member->lane;
    if (path->exact) lane.work(now);  // so that all answers are in the ledgers
    auto candidate = lane.commit_candidate(most, path->exact);
    if (path->exact) {
      const bool fits = !candidate || candidate->metadata.size() <= most;
      lane.hold_for_map(!fits, now);
      whole = whole && fits && !lane.position_in_doubt();
    }
    // A lane with a commit under way stays in the list, because the answer is not known yet.
    if (!candidate) {
      lanes_.nothing_to_commit(*member);
      continue;
    }
    committing_.push_back({lane.epoch(), *candidate});
    offsets.push_back(std::move(*candidate));
  }
  if (offsets.empty() || !whole) {
    if (path->exact) path->put_off();
    return false;
  }
  const auto status = path->commit(std::move(offsets), request_limit_, now);
  sent_ = static_cast<bool>(status);
  if (!sent_) on_failed(status.error().text());
  return sent_;
}

void MemberCommits::drop() {
  preparing_ = false;
  committing_.clear();
}

void MemberCommits::on_failed(const std::string& why) {
  telemetry::log_repeating(telemetry::Level::warn, "commit failed: " + why, "commit failed",
                           {{"error", why}});
  stats_.commits_failed.add(1);
  committing_.clear();
}

void MemberCommits::on_result(const kafka::CommitResult& result, TimePoint now) {
  stats_.commit_latency.record(now - begun_);
  const std::set<kafka::TopicPartition> done(result.committed.begin(), result.committed.end());
  for (const auto& [epoch, offset] : committing_) {
    auto* lane = lanes_.find(offset.partition);
    if (lane == nullptr || lane->lane->epoch() != epoch) continue;
    const bool acknowledged = done.contains(offset.partition);
    lane->refused_for_now = !acknowledged && result.passing && !path->exact;
    if (acknowledged && lane->lane->committed(offset)) lanes_.make_ready(*lane);
  }
  refused_ = !result.error.empty();
  if (result.metadata_too_long && send_shorter(now)) return;
  if (result.perhaps_too_large && send_in_smaller_requests(now)) return;
  if (!result.error.empty()) return on_failed(result.error);
  committing_.clear();
  stats_.commits_acknowledged.add(1);
}

/// Repeats commits that were refused for their length at once, with half of the completion map, so that a
/// handover does not wait in vain. A longer map would be refused again, so the limit stays. Records that are
/// missing in the map may run again.
bool MemberCommits::send_shorter(TimePoint now) {
  std::size_t longest = 0;
  for (const auto& [epoch, offset] : committing_) longest = std::max(longest, offset.metadata.size());
  if (longest / 2 >= map_limit_) return false;
  map_limit_ = longest / 2;
  telemetry::warn("completion maps are longer than the brokers accept; later commits have shorter maps",
                  {{"bytes", longest}, {"limit", map_limit_}, {"setting", "offset.metadata.max.bytes"}});
  return send_again(now);
}

/// The other requests of the commit may have been accepted: their lanes have nothing left to commit. A
/// transaction has failed, and the next one keeps the new limits.
bool MemberCommits::send_again(TimePoint now) {
  if (path->exact) return false;
  stats_.commits_failed.add(1);
  begun_ = now;
  std::vector<MemberLane*> lanes;
  for (const auto& [epoch, offset] : committing_) {
    auto* lane = lanes_.find(offset.partition);
    if (lane != nullptr && lane->lane->epoch() == epoch) lanes.push_back(lane);
  }
  return send(lanes, now);
}

bool MemberCommits::send_in_smaller_requests(TimePoint now) {
  if (now < no_smaller_until_) return false;
  if (request_limit_ <= least_request) {
    no_smaller_until_ = now + no_smaller_requests;
    limit_ends_ = now;
    return false;
  }
  request_limit_ = std::max(request_limit_ / 4, least_request);
  limit_ends_ = now + small_requests;
  telemetry::log_repeating(
      telemetry::Level::warn, "commit refused, perhaps for its size",
      "commit refused, perhaps for its size: sent again in smaller requests",
      {{"bytes", request_limit_}, {"setting", "max.message.bytes of __consumer_offsets"}});
  return send_again(now);
}

}  // namespace laneway::lane
