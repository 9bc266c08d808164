// Why a member cannot go on, and why it has no connection to a broker.
//
// If the member never had partitions, a group that it may not join ends the member (unavailable). Later,
// brokers may take away rights and give them back: then the member goes on, logs what is missing, commits
// nothing that is refused and loses nothing; records that were not committed when the group's session ended
// run again.
//
// Ownership: the loop owns this; mailbox and stats outlive it. Threads: fatal() and broker_error() may be
// called from any thread, the rest from the loop's. Nothing blocks.
#pragma once

#include <optional>
#include <string>

#include "base/mutex.h"
#include "base/result.h"
#include "kafka/group/consumer.h"
#include "lane/member/loop_mailbox.h"
#include "lane/member/loop_stats.h"
#include "lane/position/lane_silence.h"

namespace laneway::lane {

class MemberHealth {
 public:
  MemberHealth(LoopMailbox& mailbox, LoopStats& stats) : mailbox_(mailbox), stats_(stats) {}

  /// The member stops.
  void fail(Error why) EXCLUDES(mutex_);
  /// The client refused a request without which the member cannot go on.
  void client_broken(const std::string& why);
  void on_client_error(const kafka::ClientError& error, const kafka::Consumer& consumer) EXCLUDES(mutex_);
  void on_statistics(const kafka::Statistics& statistics, TimePoint now) EXCLUDES(mutex_);
  /// A lane asks for new members or for the end of the process; the service does that.
  void on_silence(const LaneSilence::Demand& demand);
  /// Whether the client cannot commit any more. After a silent partition the client still can, and finished
  /// records are committed.
  bool commits_no_more() const { return failed_ && !ends_by_silence_; }

  std::optional<Error> fatal() const EXCLUDES(mutex_);
  /// Why the last connection to a broker failed; empty while one is connected.
  std::string broker_error() const EXCLUDES(mutex_);

 private:
  LoopMailbox& mailbox_;
  LoopStats& stats_;
  bool failed_ = false;
  bool ends_by_silence_ = false;
  mutable Mutex mutex_;
  std::optional<Error> fatal_ GUARDED_BY(mutex_);
  std::string broker_error_ GUARDED_BY(mutex_);
};

}  // namespace laneway::lane
