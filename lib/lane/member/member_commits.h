// The commits of one member: when they are due, which offset of which lane is under way, and what an answer
// means.
//
// Commits go through a CommitPath (commit_path.h), one at a time. A commit that the brokers refuse because of
// the length of its completion map is repeated at once with half of the map; one that they refuse perhaps
// because of the size of its request, in requests of a quarter of the size, and at last with shorter maps. So
// what brokers accept less than by default delays the commits of some lanes and stops none. The maps of a
// path that is exact are whole; there, only a refusal of the metadata's length makes lanes wait.
//
// Ownership: the loop owns this; consumer, lanes and stats outlive it. Threads: one, the loop's. Nothing
// blocks.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "config/config.h"
#include "kafka/group/commit_parts.h"
#include "kafka/group/consumer.h"
#include "lane/ledger/completion_map.h"
#include "lane/member/commit_path.h"
#include "lane/member/loop_stats.h"
#include "lane/member/member_lanes.h"

namespace laneway::lane {

class MemberCommits {
 public:
  MemberCommits(const kafka::Consumer& consumer, std::unique_ptr<CommitPath> commit_path, MemberLanes& lanes,
                LoopStats& stats);
  /// For answers, and for the end of failures.
  const std::unique_ptr<CommitPath> path;

  /// Replaces the settings for when commits are due; takes effect immediately.
  void follow(const config::Commit& settings, TimePoint now);
  TimePoint next_due() const { return next_; }
  /// `lanes_stay_ours`: the client does not continue a rebalance without the lanes
  /// (RebalanceMachine::lanes_stay_ours).
  void commit_if_due(bool lanes_stay_ours, TimePoint now);
  /// Commits these lanes; all lanes if the path is exact. Returns false if there was nothing to commit or the
  /// commit could not be sent.
  bool begin(const std::vector<MemberLane*>& lanes, TimePoint now);
  /// Continues the commit that is under way.
  void advance(TimePoint now);

  bool under_way() const { return preparing_ || sent_; }
  /// When the last commit was begun.
  TimePoint begun() const { return begun_; }
  /// Forgets the commit that is under way, if the path is not exact. Returns true if a new commit may begin.
  bool forget() {
    if (!path->exact) sent_ = false;
    return !under_way();
  }
  /// Why everything since the last commit must be done again; nullopt if there was no failure. Only if the
  /// path is exact.
  std::optional<std::string> failure() const { return sent_ ? std::nullopt : path->failure(); }
  /// The commit that is under way has failed.
  void drop();

 private:
  /// An offset in the commit that is under way, with the epoch of its lane.
  struct Commitment {
    std::uint64_t epoch;
    kafka::CommittedOffset offset;
  };

  bool send(const std::vector<MemberLane*>& lanes, TimePoint now);
  bool send_shorter(TimePoint now);
  bool send_in_smaller_requests(TimePoint now);
  bool send_again(TimePoint now);
  void on_result(const kafka::CommitResult& result, TimePoint now);
  void on_failed(const std::string& why);

  const kafka::Consumer& consumer_;
  MemberLanes& lanes_;
  LoopStats& stats_;
  config::Commit settings_;
  std::vector<Commitment> committing_;
  bool preparing_ = false;  // a commit has been asked for, and the lanes have not been asked yet
  bool sent_ = false;       // a commit has no result yet
  TimePoint begun_;
  TimePoint next_ = TimePoint::max();
  // The last commit was refused; then a lane's wish waits until commits are due.
  bool refused_ = false;
  std::size_t map_limit_ = default_map_bytes;         // of the metadata; lower if the brokers accept less
  std::size_t request_limit_ = kafka::request_bytes;  // of a request; lower for a while after a refusal
  TimePoint limit_ends_;                              // then the limit is the default again
  TimePoint no_smaller_until_;                        // smaller requests were refused as well
};

}  // namespace laneway::lane
