// One group member: the thread that owns a consumer, serves its events and works its lanes.
//
// Threads: start(), join() and the destructor from the service's thread; stop(), lanes() and the counters
// from any; all else happens on the loop's own thread, which never waits for a drain, a handler or a broker.
// It sleeps until something is ready: a partition's queue, a finished record that matters, an event of the
// group, or the next due time.
//
// Rebalances: assigned partitions wait for their committed offsets (with the completion maps), then start;
// revoked ones drain, commit, and are given back; in which order, rebalance_machine.h decides. Stopping
// drains everything, then leaves the group together with the process's other members.
//
// Commits go by a CommitPath (commit_path.h). Where it is exact and fails, all lanes start over from what was
// committed last, offset and completion map; that is known here, so nobody is asked.
//
// Denied access: a group that may not be joined ends a member that never had partitions (unavailable). Later
// the brokers may have taken rights away that they give back: then the member goes on, says what is missing,
// commits nothing that is refused and loses nothing; what was not committed when the group's session ended
// runs again. A topic that may not be read keeps its lanes waiting (lane.h).
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/histogram.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/signal.h"
#include "kafka/group/consumer.h"
#include "lane/lane.h"
#include "lane/member/commit_path.h"
#include "lane/member/rebalance_machine.h"

namespace laneway::lane {

/// The members of one process that have not drained yet. None leaves the group before all have committed: the
/// others' commits do not meet the rebalance that a leave begins, and the group rebalances once, not for
/// each. Any thread.
class StillDraining {
 public:
  void add() { members_.fetch_add(1, std::memory_order_relaxed); }
  void remove() { members_.fetch_sub(1, std::memory_order_acq_rel); }
  bool none() const { return members_.load(std::memory_order_acquire) == 0; }

 private:
  std::atomic<std::size_t> members_{0};
};

struct LoopSettings {
  kafka::ClientSettings client;
  std::vector<std::string> topics;
  config::Commit commit;
  std::shared_ptr<StillDraining> still_draining;  ///< shared by the members of the process
};

/// Something to be done with a lane on its loop's thread; must not block.
using LaneCommand = std::function<void(Lane&, TimePoint now)>;

struct LoopStats {
  Relaxed<std::uint64_t> commits_acknowledged;
  Relaxed<std::uint64_t> commits_failed;
  Relaxed<std::uint64_t> assigned;
  Relaxed<std::uint64_t> revoked;
  Relaxed<std::uint64_t> lost;
  Relaxed<std::uint64_t> assignment_repairs;
  Histogram commit_latency;
  Histogram drain;
  Relaxed<std::int64_t> last_turn_ns;  ///< steady time of the loop's last turn
  Relaxed<std::int64_t>
      joining_since_ns;            ///< steady time at which the group began to be joined; 0: it is not
  Relaxed<bool> must_be_renewed;   ///< another loop has to take over (kafka::Consumer)
  Relaxed<bool> partition_silent;  ///< the same, because a partition delivers nothing (silence_watch.h)
  Relaxed<std::int64_t> no_broker_since_ns;  ///< steady time at which no broker was connected; 0: one is
};

class ConsumerLoop : private RebalanceSteps {
 public:
  /// `ended` is called on the loop's thread when the loop has ended by itself or after stop().
  ConsumerLoop(const LaneContext& context, LoopSettings settings, std::function<void()> ended);
  ~ConsumerLoop() override;

  Status start();
  /// Begins the drain.
  void stop();
  /// Ends the drain at once.
  void cut_short();
  /// False if the loop, a handler of it or the client hangs; the destructor would wait for them. The client
  /// has 2 s to end after the loop, also where `deadline` is earlier.
  bool join(Deadline deadline);

  /// From any thread: the loop calls it with each lane that it has when it comes to it, in its next turn.
  /// False when the loop has ended, or hangs and has 64 of them already. One that comes too late all the same
  /// is destroyed without a call.
  bool post(LaneCommand command) EXCLUDES(shared_mutex_);
  /// From any thread: the lanes follow hand_pauses.h in the loop's next turn. Needs no room among the
  /// commands, so that a pause is never refused.
  void hand_pauses_changed();
  /// From any thread: what can be changed in flight of these settings (config/reload.h) holds from the loop's
  /// next turn on, for the lanes that it has and for those that come. Of several the last one counts.
  void follow(std::shared_ptr<const config::Config> settings) EXCLUDES(shared_mutex_);

  bool ended() const { return ended_.load(std::memory_order_acquire); }
  /// Why it cannot go on.
  std::optional<Error> fatal() const EXCLUDES(shared_mutex_);
  /// Why the last connection to a broker failed; empty while one is connected.
  std::string broker_error() const EXCLUDES(shared_mutex_);
  /// Records that the stop's drain gave up. Those of partitions that moved away while the service went on are
  /// somebody else's to finish, and only logged and counted.
  std::uint64_t abandoned() const { return abandoned_.get(); }
  std::vector<std::shared_ptr<const Lane>> lanes() const EXCLUDES(shared_mutex_);
  const LoopStats& stats() const { return stats_; }

 private:
  /// A lane with what the loop keeps beside it.
  struct Entry {
    std::shared_ptr<Lane> lane;
    std::atomic<bool> signalled{false};
    bool ready = false;
    bool leaving = false;
    bool ended = false;                                 // among the zombies
    bool refused_for_now = false;                       // its last commit, for a reason that passes
    bool worked = false;                                // among worked_
    std::multimap<TimePoint, Entry*>::iterator tick{};  // while it is not ended
  };
  /// Of the commit under way: which lane, by its epoch, and what.
  struct Commitment {
    std::uint64_t epoch;
    kafka::CommittedOffset offset;
  };

  void run();
  void turn();
  void serve(kafka::Event& event);
  void on_assigned(const kafka::Assigned& assigned);
  void on_revoked(const kafka::Revoked& revoked);
  // RebalanceSteps
  void ask_committed(std::uint64_t request, const Partitions& partitions) override;
  void assign(const std::vector<kafka::CommittedOffset>& from) override;
  void unassign(const Partitions& partitions, bool all) override;
  void drain(const Partitions& lanes, TimePoint deadline) override;
  void cancel(const Partitions& lanes) override;
  bool drained(const kafka::TopicPartition& lane) override;
  void end(const Partitions& lanes, bool given_up) override;
  bool commit_blocked(TimePoint since) const override;
  bool commit(const Partitions& lanes) override;
  bool commit_under_way() const override { return preparing_ || commits_->under_way(); }
  bool refused_for_now(const Partitions& lanes) const override;
  void forget_commit() override { (void)commits_->forget(); }
  void drained_after(Duration took) override { stats_.drain.record(took); }

  std::pair<Entry*, std::unique_ptr<PartitionSource>> add_lane(const kafka::CommittedOffset& start);
  void after_work(Entry& entry);
  void on_commit_result(const kafka::CommitResult& result);
  static bool all_committed(const std::vector<Entry*>& lanes);
  void end_lane(Entry& entry, Lane::Ending ending = Lane::Ending::given_up);
  void work_lanes();
  void tick_lanes();
  void tick_at(Entry& entry, TimePoint at);
  void do_chores();
  void run_commands() EXCLUDES(shared_mutex_);
  void end_commands() EXCLUDES(shared_mutex_);
  void follow_settings(const config::Config& settings);
  void compare_assignment();
  void make_ready(Entry& entry);
  void on_statistics(const kafka::Statistics& statistics);
  // consumer_loop_commit.cpp
  void commit_if_due();
  bool may_commit() const;
  bool begin_commit(const std::vector<Entry*>& lanes);
  bool send_commit(const std::vector<Entry*>& lanes);
  void advance_commit();
  std::vector<Entry*> all_lanes() const;
  std::vector<Entry*> worked_lanes() const;
  std::vector<Entry*> entries_of(const Partitions& partitions) const;
  void on_commit_failed(const std::string& why);
  bool send_shorter();
  void start_over_if_failed();
  void bury();
  void advance_stop();
  void begin_stop();
  bool may_leave();
  void on_client_error(const kafka::ClientError& error);
  void fail(Error why);
  static Error client_broken(const std::string& why);
  void meet_silence(const LaneSilence::Demand& demand);
  Entry* find(const kafka::TopicPartition& partition) const;
  void publish_lanes() EXCLUDES(shared_mutex_);

  const std::function<void()> on_ended_;

  // The loop's own
  LaneContext context_;  // workers read the handlers in it, and no settings
  LoopSettings settings_;
  std::unique_ptr<kafka::Consumer> consumer_;
  std::unique_ptr<CommitPath> commits_;
  std::optional<RebalanceMachine> rebalances_;
  std::map<kafka::TopicPartition, std::unique_ptr<Entry>> entries_;
  std::multimap<TimePoint, Entry*> ticks_;       // each lane's next one
  bool lanes_changed_ = false;                   // since they were published
  std::vector<std::unique_ptr<Entry>> zombies_;  // revoked, with handlers still at work
  std::vector<Entry*> ready_;
  std::set<Entry*> worked_;  // may have something to commit: with many lanes most have not
  std::vector<Commitment> committing_;
  bool preparing_ = false;  // a commit has been asked for, and lanes have not yet
  TimePoint commit_begun_;
  TimePoint next_commit_;
  bool commit_wanted_ = false;                 // a lane does not want to wait until commits are due
  bool commit_refused_ = false;                // the last one: then it waits all the same
  std::size_t map_limit_ = default_map_bytes;  // of the metadata; lower where brokers take less
  std::uint64_t completed_ = 0;
  TimePoint now_;
  TimePoint next_chores_;
  TimePoint next_comparison_;
  bool stopping_ = false;
  bool drained_ = false;
  TimePoint leave_deadline_;
  std::optional<TimePoint> closing_since_;
  bool done_ = false;
  bool frees_client_ = false;     // nobody uses it any more
  bool ends_by_silence_ = false;  // it failed, and its client still commits

  // Shared
  Signal signal_;
  std::atomic<int> stops_{0};  // 1: draining, 2: cut short
  std::atomic<bool> ended_{false};
  std::atomic<std::int64_t> ended_ns_{0};  // steady time
  std::atomic<bool> freed_{false};         // the thread has nothing left to do
  Relaxed<std::uint64_t> abandoned_;
  LoopStats stats_;
  mutable Mutex shared_mutex_;
  std::vector<Entry*> signalled_ GUARDED_BY(shared_mutex_);
  std::vector<std::shared_ptr<const Lane>> published_ GUARDED_BY(shared_mutex_);
  std::optional<Error> fatal_ GUARDED_BY(shared_mutex_);
  std::string broker_error_ GUARDED_BY(shared_mutex_);
  std::vector<LaneCommand> commands_ GUARDED_BY(shared_mutex_);
  std::shared_ptr<const config::Config> new_settings_ GUARDED_BY(shared_mutex_);
  bool takes_commands_ GUARDED_BY(shared_mutex_) = true;
  std::atomic<bool> any_signalled_{false};
  std::atomic<bool> any_commands_{false};
  std::thread thread_;
};

}  // namespace laneway::lane
