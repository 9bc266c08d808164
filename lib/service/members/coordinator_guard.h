// Decides what to do about members whose clients do not find the coordinator of their group although brokers
// answer.
//
// A client can lose its coordinator for good: for example, librdkafka keeps the address of a coordinator
// whose number has not changed, so the only broker of a cluster that comes back at another address is never
// found again (up to 2.15.1, without patch 12 of the bundled client). Such a member commits nothing and gets
// no partitions, while brokers answer.
//
// When a member has had no coordinator for 4 units, a new client looks for the coordinator, and again each
// unit. The coordinator that no client reaches is an outage of Kafka, or the group is one that the user may
// not use: nothing is done, because neither new members nor a restart would help. If the new client reaches
// the coordinator, new members take over; if their clients do not find the coordinator either, the process
// ends, for a restart. A coordinator that new clients did not reach before has only come back: the members
// have a unit to find it.
//
// A rebalance of any length does not count, because its coordinator is connected; nor does the time in which
// the process stood still (base/time.h).
//
// CoordinatorGuard is pure: times are given in and must not go back. One owner, one thread.
#pragma once

#include <atomic>
#include <optional>

#include "base/result.h"
#include "base/time.h"
#include "config/config.h"
#include "service/lanes/lane_requests.h"

namespace laneway::service {

/// The unit of the guards against silence: half of the client's time-out for a request. A healthy client
/// needs less for everything.
Duration silence_unit(const kafka::ClientSettings& client);

class CoordinatorGuard {
 public:
  enum class Step : std::uint8_t { wait, renew, end };

  /// To be called at least once a unit. `missing`: the longest time for which a member has had no
  /// coordinator although brokers answered. Returns whether a new client should look for the coordinator now.
  bool question_due(Duration missing, Duration unit, TimePoint now);
  /// What to do when the new client has reached the coordinator, or not.
  Step hear(bool reached, Duration unit, TimePoint now);

 private:
  bool renewed_ = false;
  bool unreached_ = false;  // by the last new client
  std::optional<TimePoint> found_since_;
  TimePoint next_question_{};
};

/// The guard of a running service, with the new client.
class CoordinatorSearch {
 public:
  /// Must be called at least once a second while the members run. `unit`: see above. Blocks for up to 5 s,
  /// only while it asks; returns soon after `stops` has become positive. Returns true if new members must
  /// take over, or if failure() is set.
  bool renewal_due(const config::Config& config, const Loops& loops, Duration unit,
                   const std::atomic<int>& stops);
  /// Why only a restart of the process can help.
  const std::optional<Error>& failure() const { return failure_; }

 private:
  CoordinatorGuard guard_;
  std::optional<Error> failure_;
};

}  // namespace laneway::service
