#include "lane/member/member_rebalance.h"

#include <algorithm>

#include "telemetry/log.h"

namespace laneway::lane {
namespace {

constexpr Duration answer_patience = seconds(2);
constexpr Duration committed_patience = seconds(10);

/// Whether these lanes have nothing left to commit.
bool all_committed(const std::vector<MemberLane*>& lanes) {
  return std::all_of(lanes.begin(), lanes.end(), [](const MemberLane* lane) {
    return lane->lane->drained() && !lane->lane->has_uncommitted();
  });
}

}  // namespace

MemberRebalance::MemberRebalance(kafka::Consumer& consumer, OpenSource open_source, MemberLanes& lanes,
                                 MemberCommits& commits, MemberHealth& health, const LoopMailbox& mailbox,
                                 LoopStats& stats)
    : consumer_(consumer),
      open_source_(std::move(open_source)),
      lanes_(lanes),
      commits_(commits),
      health_(health),
      mailbox_(mailbox),
      stats_(stats) {}

void MemberRebalance::ask_committed(std::uint64_t request, const Partitions& partitions) {
  consumer_.request_committed(request, partitions, committed_patience);
}

void MemberRebalance::assign(const std::vector<kafka::CommittedOffset>& from) {
  // A partition's queue must be open before the assignment; otherwise records slip into the group's queue.
  std::vector<std::pair<MemberLane*, std::unique_ptr<PartitionSource>>> opened;
  for (const auto& start : from) {
    auto& lane = lanes_.add(StoredCommit::read(start), now_);
    opened.emplace_back(&lane, open_source_(consumer_, start.partition, lane.on_ready));
  }
  if (auto status = consumer_.assign(from); !status) health_.client_broken(status.error().text());
  for (auto& [lane, source] : opened) {
    lane->lane->start(std::move(source), now_);
    lanes_.make_ready(*lane);
  }
}

void MemberRebalance::unassign(const Partitions& partitions, bool all) {
  if (auto status = consumer_.unassign(partitions, all); !status)
    telemetry::warn("giving partitions back failed", {{"error", status.error().text()}});
}

/// What has finished is committed at once: the process may be killed while it drains, and the client may join
/// the group without waiting for the drain (join_watch.h).
void MemberRebalance::drain(const Partitions& lanes, TimePoint deadline) {
  lanes_.since_commit.wanted = true;
  for (auto* lane : lanes_.of(lanes)) {
    lane->leaving = true;
    lane->lane->begin_drain(now_, deadline);
  }
}

void MemberRebalance::cancel(const Partitions& lanes) {
  for (auto* lane : lanes_.of(lanes)) lane->lane->cancel();
}

bool MemberRebalance::drained(const kafka::TopicPartition& lane) {
  return lanes_.drained(*lanes_.find(lane), now_);
}

bool MemberRebalance::commit_blocked(TimePoint since) const {
  if (commits_.under_way() && now_ < commits_.begun() + answer_patience) return true;
  return consumer_.join_under_way() && now_ < since + answer_patience;
}

bool MemberRebalance::commit(const Partitions& lanes) {
  if (consumer_.assignment_lost() || health_.commits_no_more()) return false;
  if (!commits_.forget()) return false;
  return commits_.begin(lanes_.of(lanes), now_);
}

bool MemberRebalance::refused_for_now(const Partitions& lanes) const {
  const auto refused = lanes_.of(lanes);
  return std::any_of(refused.begin(), refused.end(),
                     [](const MemberLane* lane) { return lane->refused_for_now; });
}

void MemberRebalance::end(const Partitions& lanes, bool given_up) {
  const auto ending = lanes_.of(lanes);
  if (commits_.path->exact && !given_up && !all_committed(ending))
    commits_.path->fail("partitions were revoked before their finished records were committed");
  for (auto* lane : ending) {
    if (lane->lane->finished_since_commit() > 0) note_uncommitted(*lane->lane);
    end_lane(*lane, Lane::Ending::given_up);
  }
}

void MemberRebalance::note_uncommitted(const Lane& lane) {
  const auto records = lane.finished_since_commit();
  telemetry::warn("finished records are not committed and run again",
                  {{"topic", lane.partition().topic},
                   {"partition", lane.partition().partition},
                   {"epoch", lane.epoch()},
                   {"offset", lane.stats().committed.offset.get()},
                   {"records", records}});
  if (mailbox_.stop_asked()) stats_.uncommitted.add(records);
}

void MemberRebalance::end_lane(MemberLane& lane, Lane::Ending ending) {
  const auto abandoned = lanes_.end(lane, ending, now_);
  if (mailbox_.stop_asked()) stats_.abandoned.add(abandoned);
}

void MemberRebalance::start_over() {
  auto lanes = lanes_.all();
  std::erase_if(lanes, [](const MemberLane* lane) { return lane->leaving || !lane->lane->begun(); });
  std::vector<StoredCommit> from;
  for (auto* lane : lanes) {
    from.push_back(lane->lane->starting_point());
    end_lane(*lane, Lane::Ending::starts_over);
  }
  commits_.path->start_over();
  for (const auto& point : from) {
    auto& lane = lanes_.add(point, now_);
    auto source = open_source_(consumer_, point.partition, lane.on_ready);
    source->seek(point.offset);
    lane.lane->start(std::move(source), now_);
    lanes_.make_ready(lane);
  }
}

}  // namespace laneway::lane
