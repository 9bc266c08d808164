// Whether a service does its work, and if not, why: the judgement behind /readyz.
//
// Not ready: the service has not started, has no assignment yet or has lost its assignment, or stops; no
// broker can be reached, or no coordinator of the group although brokers answer; joining the group takes
// longer than a rebalance may take; the breaker is not closed and records wait; a lane has lag and makes
// no progress, or does not know its lag because its partition has never answered; a lane is held by its
// failures or by its oldest record; a partition or its committed offset cannot be read; a handler is stuck.
// Still ready: no work, a rebalance, a drain, a suspended lane, a hold because the workers cannot keep up
// (that is lag, and back-pressure that works; the same holds for a window full of records that wait for their
// keys while the oldest records are finished), a retry topic whose records wait until they are due.
//
// Pure: everything, times too, is given in.
#pragma once

#include <string>
#include <vector>

#include "lane/state/lane_detail.h"
#include "service/lane_view.h"
#include "service/ready/reason_codes.h"

namespace laneway::service {

struct Reason {
  ReasonCode code;
  std::string text;        ///< for people, on one line
  std::string topic = {};  ///< of the lane that the reason is about; empty if it is about no lane
  std::int32_t partition = -1;
};

struct Readiness {
  std::vector<Reason> reasons;
  /// The lanes that operators have suspended ("orders:3"). They are no reason: a person wants it so.
  std::vector<std::string> suspended{};
  bool ready() const { return reasons.empty(); }
};

struct MemberFacts {
  bool assigned = false;       ///< the member has an assignment, even an empty one, that it has not lost
  Duration no_broker{};        ///< how long no broker has been connected; zero if one is
  Duration no_coordinator{};   ///< how long brokers have been connected without the group's coordinator
  Duration joining{};          ///< how long the member has been joining the group; zero if it is not
  std::string broker_error{};  ///< why the last connection failed
  std::size_t lanes = 0;       ///< how many it has
  /// Brokers have delayed the client because of a quota in the last minute.
  bool throttled = false;
  bool without_topics = false;  ///< the pattern in `topics` has found no topic yet
  /// Assigned partitions whose committed offsets cannot be read, so they have no lane, and for how long.
  std::uint64_t awaited_offsets = 0;
  Duration awaiting_offsets{};

  /// The group has given it no partition.
  bool idle() const { return assigned && lanes + awaited_offsets == 0; }
};

/// What is known of a lane, for the readiness and for the status.
struct LaneFacts {
  LaneView view;
  Duration without_progress{};
  Duration held{};
  lane::LaneDetail detail;
  double rate = 0;              ///< records done per second, over the last ten seconds
  double dead_letter_rate = 0;  ///< dead letters per second, likewise
  bool error_is_over = false;   ///< detail.last_error is history (lane_history.h)
};

struct Facts {
  std::string starting;  ///< what the start waits for; empty if the service has started
  bool stopping = false;
  std::vector<MemberFacts> members;
  std::vector<LaneFacts> lanes;
  /// Why each breaker that is not closed is not (downstream_status.h); empty while no record waits for one.
  std::vector<std::string> breakers;
};

struct ReadinessLimits {
  Duration stall = seconds(60);           ///< without progress, or held
  Duration no_broker = seconds(10);       ///< a connection that is being renewed is no outage
  Duration no_coordinator = seconds(30);  ///< a coordinator that moves is no outage
  Duration unreadable =
      seconds(30);  ///< a leader that moves is no outage, nor is a position that is being looked up
  Duration rebalance = seconds(300);  ///< how long the group waits for its members
};

Readiness judge(const Facts& facts, const ReadinessLimits& limits);

/// "17, the oldest for 80 s, waiting; attempt 4 failed: HTTP 500"
std::string describe(const lane::OldestRecord& oldest);

}  // namespace laneway::service
