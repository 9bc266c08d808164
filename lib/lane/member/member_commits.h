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
  MemberCommits(const kafka::Consumer& consumer, std::unique_ptr<CommitPath> path, MemberLanes& lanes,
                LoopStats& stats);

  /// Replaces the settings for when commits are due; takes effect immediately.
  void follow(const config::Commit& settings, TimePoint now);
  TimePoint next_due() const { return next_; }
  /// `client_waits`: the client does not continue a rebalance without the lanes
  /// (RebalanceMachine::client_waits).
  void commit_if_due(bool client_waits, TimePoint now);
  /// Commits these lanes; all lanes if the path is exact. Returns false if there was nothing to commit or the
  /// commit could not be sent.
  bool begin(const std::vector<MemberLane*>& lanes, TimePoint now);
  /// Continues the commit that is under way.
  void advance(TimePoint now);

  bool exact() const { return path_->exact(); }
  bool under_way() const { return preparing_ || path_->under_way(); }
  /// When the last commit was begun.
  TimePoint begun() const { return begun_; }
  /// Forgets the commit that is under way, if it may be forgotten. Returns true if a new commit may begin.
  bool may_begin() { return !preparing_ && path_->forget(); }
  /// For answers, failures and their end.
  CommitPath& path() { return *path_; }
  /// The commit that is under way has failed.
  void drop();

 private:
  /// An offset in the commit that is under way, with the epoch of its lane.
  struct Commitment {
    std::uint64_t epoch;
    kafka::CommittedOffset offset;
  };

  bool allowed(bool client_waits, TimePoint now) const;
  bool send(const std::vector<MemberLane*>& lanes, TimePoint now);
  std::optional<kafka::CommittedOffset> candidate_of(MemberLane& lane, bool& whole, TimePoint now);
  std::size_t map_limit() const;
  bool send_shorter(TimePoint now);
  bool send_in_smaller_requests(TimePoint now);
  bool send_again(TimePoint now);
  void on_result(const kafka::CommitResult& result, TimePoint now);
  void on_failed(const std::string& why);

  const kafka::Consumer& consumer_;
  const std::unique_ptr<CommitPath> path_;
  MemberLanes& lanes_;
  LoopStats& stats_;
  config::Commit settings_;
  std::vector<Commitment> committing_;
  bool preparing_ = false;  // a commit has been asked for, and the lanes have not been asked yet
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
