// Why a member cannot go on, and why it has no connection to a broker.
//
// A group that may not be joined ends a member that never had partitions (unavailable). Later the brokers may
// have taken rights away that they give back: then the member goes on, says what is missing, commits nothing
// that is refused and loses nothing; what was not committed when the group's session ended runs again.
//
// Ownership: the loop owns this; mailbox and stats outlive it. Threads: fatal() and broker_error() may be
// called from any, the rest by the loop's. Nothing blocks.
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
  void on_connection(bool connected, TimePoint now) EXCLUDES(mutex_);
  /// The service makes new members, or ends the process.
  void on_silence(const LaneSilence::Demand& demand);
  /// The client cannot commit any more. After a silent partition it still can, and what is done is committed.
  bool commits_no_more() const { return fatal() && !ends_by_silence_; }

  std::optional<Error> fatal() const EXCLUDES(mutex_);
  /// Why the last connection to a broker failed; empty while one is connected.
  std::string broker_error() const EXCLUDES(mutex_);

 private:
  LoopMailbox& mailbox_;
  LoopStats& stats_;
  bool ends_by_silence_ = false;
  mutable Mutex mutex_;
  std::optional<Error> fatal_ GUARDED_BY(mutex_);
  std::string broker_error_ GUARDED_BY(mutex_);
};

}  // namespace laneway::lane
