// One group member: the thread that owns a consumer, serves its events and works its lanes.
//
// The loop runs in turns. In each turn the loop reads the group's events and the requests of other threads
// (loop_mailbox.h), works the lanes that are ready (member_lanes.h), advances rebalances
// (member_rebalance.h), commits (member_commits.h), and leaves the group when the member stops
// (group_leave.h). When a transaction fails, all lanes start over from the last commit, offset and completion
// map; the member knows both, so it need not ask the brokers.
//
// Threads: start(), join() and the destructor are called from the service's thread; requests and getters may
// be called from any thread. Everything else happens on the loop's own thread, which never waits for a drain,
// a handler or a broker. The loop sleeps until something is ready: a partition's queue, a finished record
// that matters, an event of the group, or the next due time.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "base/signal.h"
#include "kafka/group/consumer.h"
#include "lane/member/group_leave.h"
#include "lane/member/loop_mailbox.h"
#include "lane/member/loop_stats.h"
#include "lane/member/member_commits.h"
#include "lane/member/member_health.h"
#include "lane/member/member_lanes.h"
#include "lane/member/member_rebalance.h"
#include "lane/member/rebalance_machine.h"
#include "lane/member/topic_watch.h"

namespace laneway::lane {

/// How a member gets its consumer and the records of its lanes: from Kafka, unless a test plays the group.
struct MemberClient {
  std::function<Result<std::unique_ptr<kafka::Consumer>>(
      const kafka::ClientSettings&, const kafka::FetchLimits&, std::function<void()> on_event)>
      make_consumer = kafka::Consumer::create;
  OpenSource open_source = open_kafka_source;
};

struct LoopSettings {
  kafka::ClientSettings client;
  TopicSubscription topics;
  config::Commit commit;
  std::shared_ptr<StillDraining> still_draining;  ///< shared by the members of the process
  MemberClient member_client{};
};

class ConsumerLoop {
 public:
  /// `ended` is called on the loop's thread when the loop has ended by itself or after stop().
  ConsumerLoop(const LaneContext& context, LoopSettings settings, std::function<void()> ended);

  Status start();
  /// Begins the drain.
  void stop() { mailbox_.stop(); }
  /// Ends the drain at once.
  void cut_short() { mailbox_.cut_short(); }
  /// Returns false if the loop, a handler of the loop or the client hangs; the destructor would wait for
  /// them. The client has 2 s to end after the loop, even if `deadline` is earlier.
  bool join(Deadline deadline);
  /// The loop has ended and left the group; only handlers, which it waits for, keep join() from succeeding.
  bool waits_for_handlers() const { return waits_for_handlers_.load(std::memory_order_acquire); }

  /// Thread-safe. Queues a command; the loop runs it once for each of its lanes in its next turn. Returns
  /// false if the loop has ended or 64 commands are already queued. A command accepted just as the loop ends
  /// is destroyed without being run.
  bool post(LaneCommand command) { return mailbox_.post(std::move(command)); }
  /// The lanes follow suspensions.h in the loop's next turn.
  void suspensions_changed() { mailbox_.suspensions_changed(); }
  /// Applies the settings that can be changed while the service runs (config/reload.h), from the loop's next
  /// turn on, to current and future lanes. Newer settings replace older ones that are not applied yet.
  void follow(std::shared_ptr<const config::Config> settings) { mailbox_.follow(std::move(settings)); }

  bool ended() const { return ended_.load(std::memory_order_acquire); }
  /// Why the member cannot go on.
  std::optional<Error> fatal() const { return health_.fatal(); }
  /// Why the last connection to a broker failed; empty while one is connected.
  std::string broker_error() const { return health_.broker_error(); }
  std::uint64_t abandoned() const { return stats_.abandoned.get(); }
  std::uint64_t uncommitted() const { return stats_.uncommitted.get(); }
  std::vector<std::shared_ptr<const Lane>> lanes() const { return lanes_.published(); }
  const LoopStats& stats() const { return stats_; }

 private:
  void run();
  void turn();
  void serve(kafka::Event& event);
  void on_rebalance(RebalanceMachine::Kind kind, const Partitions& partitions);
  void on_statistics(const kafka::Statistics& statistics);
  void read_mail();
  void follow_settings(const config::Config& settings);
  void do_chores();
  void compare_assignment();
  void start_over_if_failed();
  void advance_stop();

  const std::function<void()> on_ended_;
  LaneContext context_;  // workers read the handlers in it, but no settings
  LoopSettings settings_;

  Signal signal_;
  LoopMailbox mailbox_{signal_};
  LoopStats stats_;
  MemberHealth health_{mailbox_, stats_};
  std::unique_ptr<kafka::Consumer> consumer_;
  MemberLanes lanes_{context_, signal_};
  // Made by start()
  std::optional<MemberCommits> commits_;
  std::optional<MemberRebalance> rebalance_steps_;
  std::optional<RebalanceMachine> rebalances_;
  std::optional<TopicWatch> topics_;  // if a pattern finds topics
  std::optional<GroupLeave> leave_;   // since the stop

  TimePoint now_;
  TimePoint next_chores_;
  TimePoint next_comparison_;
  std::int32_t lost_epoch_ = 0;  // the member's epoch when it last lost its partitions
  std::optional<bool> left_;     // at the end: whether the member has left the group

  std::atomic<bool> ended_{false};
  std::atomic<std::int64_t> ended_ns_{0};  // steady time
  std::atomic<bool> waits_for_handlers_{false};
  std::atomic<bool> freed_{false};  // the thread has nothing left to do
  std::jthread thread_;             // last, because it uses all of the above
};

}  // namespace laneway::lane
