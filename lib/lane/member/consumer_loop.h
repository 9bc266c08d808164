// One group member: the thread that owns a consumer, serves its events and works its lanes.
//
// The loop takes turns. In each it hears the group's events and what other threads ask (loop_mailbox.h),
// works the lanes that are ready (member_lanes.h), goes on with rebalances (member_rebalance.h) and commits
// (member_commits.h), and with leaving the group when the member stops (group_leave.h). Where a transaction
// fails, all lanes start over from what was committed last, offset and completion map; that is known here, so
// nobody is asked.
//
// Threads: start(), join() and the destructor from the service's thread; what is asked of the loop and what
// is read of it, from any; all else happens on the loop's own thread, which never waits for a drain, a
// handler or a broker. It sleeps until something is ready: a partition's queue, a finished record that
// matters, an event of the group, or the next due time.
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
#include "lane/member/still_draining.h"

namespace laneway::lane {

/// How a member gets its consumer and the records of its lanes: from Kafka, if no test plays the group.
struct MemberClient {
  std::function<Result<std::unique_ptr<kafka::Consumer>>(
      const kafka::ClientSettings&, const kafka::FetchLimits&, std::function<void()> on_event)>
      make_consumer = kafka::Consumer::create;
  OpenSource open_source = open_kafka_source;
};

struct LoopSettings {
  kafka::ClientSettings client;
  std::vector<std::string> topics;
  config::Commit commit;
  std::shared_ptr<StillDraining> still_draining;  ///< shared by the members of the process
  MemberClient member_client{};
};

class ConsumerLoop {
 public:
  /// `ended` is called on the loop's thread when the loop has ended by itself or after stop().
  ConsumerLoop(const LaneContext& context, LoopSettings settings, std::function<void()> ended);
  ~ConsumerLoop();

  Status start();
  /// Begins the drain.
  void stop() { mailbox_.stop(); }
  /// Ends the drain at once.
  void cut_short() { mailbox_.cut_short(); }
  /// False if the loop, a handler of it or the client hangs; the destructor would wait for them. The client
  /// has 2 s to end after the loop, also where `deadline` is earlier.
  bool join(Deadline deadline);

  /// The loop calls it with each lane that it has when it comes to it, in its next turn. False when the loop
  /// has ended, or hangs and has 64 of them already. One that comes too late all the same is destroyed
  /// without a call.
  bool post(LaneCommand command) { return mailbox_.post(std::move(command)); }
  /// The lanes follow hand_pauses.h in the loop's next turn.
  void hand_pauses_changed() { mailbox_.hand_pauses_changed(); }
  /// What can be changed in flight of these settings (config/reload.h) holds from the loop's next turn on,
  /// for the lanes that it has and for those that come. Of several the last one counts.
  void follow(std::shared_ptr<const config::Config> settings) { mailbox_.follow(std::move(settings)); }

  bool ended() const { return ended_.load(std::memory_order_acquire); }
  /// Why it cannot go on.
  std::optional<Error> fatal() const { return health_.fatal(); }
  /// Why the last connection to a broker failed; empty while one is connected.
  std::string broker_error() const { return health_.broker_error(); }
  std::uint64_t abandoned() const { return stats_.abandoned.get(); }
  std::vector<std::shared_ptr<const Lane>> lanes() const { return lanes_.published(); }
  const LoopStats& stats() const { return stats_; }

 private:
  void run();
  void sleep();
  void turn();
  void serve(kafka::Event& event);
  void on_assigned(const kafka::Assigned& assigned);
  void on_revoked(const kafka::Revoked& revoked);
  void on_statistics(const kafka::Statistics& statistics);
  void read_mail();
  void follow_settings(const config::Config& settings);
  void do_chores();
  void compare_assignment();
  void start_over_if_failed();
  void advance_stop();

  const std::function<void()> on_ended_;
  LaneContext context_;  // workers read the handlers in it, and no settings
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
  std::optional<GroupLeave> leave_;

  TimePoint now_;
  TimePoint next_chores_;
  TimePoint next_comparison_;
  bool done_ = false;

  std::atomic<bool> ended_{false};
  std::atomic<std::int64_t> ended_ns_{0};  // steady time
  std::atomic<bool> freed_{false};         // the thread has nothing left to do
  std::thread thread_;
};

}  // namespace laneway::lane
