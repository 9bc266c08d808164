// The commits of one member: when they are due, what of which lane is under way, and what an answer means.
//
// They go by a CommitPath (commit_path.h), one at a time. What the brokers refuse for the length of its
// completion map is committed at once with half of its map.
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

  /// From now on commits are due as `settings` say.
  void follow(const config::Commit& settings, TimePoint now);
  TimePoint next_due() const { return next_; }
  /// `client_waits`: no rebalance goes on behind the back of the lanes (RebalanceMachine::client_waits).
  void commit_if_due(bool client_waits, TimePoint now);
  /// Commits these lanes, all of them where the path is exact. False when there was nothing to commit or it
  /// could not be asked for.
  bool begin(const std::vector<MemberLane*>& lanes, TimePoint now);
  /// An answer of the consumer.
  void on_answer(const kafka::CommitResult& answer) { path_->on_answer(answer); }
  /// Goes on with what is under way.
  void advance(TimePoint now);

  bool exact() const { return path_->exact(); }
  bool under_way() const { return preparing_ || path_->under_way(); }
  /// When the last commit was begun.
  TimePoint begun() const { return begun_; }
  /// A commit that is under way may be forgotten, and is: the next one need not wait for it.
  bool may_begin() { return !preparing_ && path_->forget(); }
  /// The answer is not waited for any more. False where it must be.
  bool forget() { return path_->forget(); }

  /// Why all lanes start over from what was committed last (CommitPath::failure).
  std::optional<std::string> failure() const { return path_->failure(); }
  /// Lanes ended whose completions are not committed.
  void fail(const std::string& why) { path_->fail(why); }
  /// What is under way has failed.
  void drop();
  /// The handlers have been told to stop: none of them writes into the next transaction.
  void start_over() { path_->start_over(); }

 private:
  /// Of the commit under way: which lane, by its epoch, and what.
  struct Commitment {
    std::uint64_t epoch;
    kafka::CommittedOffset offset;
  };

  bool allowed(bool client_waits, TimePoint now) const;
  bool send(const std::vector<MemberLane*>& lanes, TimePoint now);
  std::optional<kafka::CommittedOffset> candidate_of(MemberLane& lane, bool& whole, TimePoint now);
  bool send_shorter(TimePoint now);
  void on_result(const kafka::CommitResult& result, TimePoint now);
  void on_failed(const std::string& why);

  const kafka::Consumer& consumer_;
  const std::unique_ptr<CommitPath> path_;
  MemberLanes& lanes_;
  LoopStats& stats_;
  config::Commit settings_;
  std::vector<Commitment> committing_;
  bool preparing_ = false;  // a commit has been asked for, and lanes have not yet
  TimePoint begun_;
  TimePoint next_ = TimePoint::max();
  bool refused_ = false;                       // the last one: then a lane's wish waits until commits are due
  std::size_t map_limit_ = default_map_bytes;  // of the metadata; lower where brokers take less
};

}  // namespace laneway::lane
