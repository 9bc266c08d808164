// Whether a service does what it is there for, and if not, why: the judgement behind /readyz.
//
// Not ready: it has not started, no assignment has come yet, or it stops; no broker can be reached; the group
// is joined for longer than a rebalance may take; the breaker is not closed; a lane has lag and makes no
// progress; a lane is held by its failures or by its oldest record; a partition cannot be read; a handler is
// stuck. Ready all the same:
// nothing to do, a rebalance, a drain, a pause by hand, a hold because the workers cannot keep up (that is
// lag, and back-pressure that works; so is a window full of records that wait for their keys while the oldest
// ones are done), a retry topic whose records wait until they are due.
//
// Pure: everything, times too, is given in.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lane/lane_detail.h"
#include "service/lane_view.h"

namespace laneway::service {

struct Reason {
  /// starting, unassigned, stopping, no_broker, rebalancing, breaker_open, unreadable, stalled, held or
  /// stuck.
  std::string code;
  std::string text;   ///< for people, on one line
  std::string topic;  ///< of the lane that it is about; empty: it is about none
  std::int32_t partition = -1;
};

struct Readiness {
  std::vector<Reason> reasons;
  bool ready() const { return reasons.empty(); }
};

struct MemberFacts {
  bool assigned = false;       ///< an assignment has come, be it an empty one
  Duration no_broker{};        ///< since when none is connected; zero: one is
  Duration joining{};          ///< since when it joins the group; zero: it does not
  std::string broker_error{};  ///< why the last connection failed
};

struct LaneFacts {
  LaneView view;
  Duration without_progress{};
  Duration held{};
  lane::LaneDetail detail;
};

struct Facts {
  std::string starting;  ///< what is waited for; empty: it has started
  bool stopping = false;
  std::vector<MemberFacts> members;
  std::vector<LaneFacts> lanes;
  std::string breaker;  ///< why it is not closed (downstream_status.h); empty: it is, or there is none
};

struct ReadinessLimits {
  Duration stall = seconds(60);      ///< without progress, or held
  Duration no_broker = seconds(10);  ///< a connection that is made anew is no outage
  Duration unreadable =
      seconds(30);  ///< a leader that moves is no outage, nor is a position that is asked for
  Duration rebalance = seconds(300);  ///< the group waits for its members so long
};

Readiness judge(const Facts& facts, const ReadinessLimits& limits);

/// "17, 80 s old, attempt 4: HTTP 500"
std::string describe(const lane::OldestRecord& oldest);

}  // namespace laneway::service
