// What changed in a service from one look to the next, as events of its timeline: readiness, breaker,
// rebalances, failed commits, lanes that are silent, stuck or cannot commit, dead letters, and the actions of
// operators, which are events when they are carried out.
//
// Dead letters that come one after another are one event, which grows: a flood would leave room for nothing
// else. Pure: looks and times are given in. Not thread-safe. Memory is bounded by the lanes of the last look.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "service/control.h"
#include "service/service_status.h"
#include "service/timeline/timeline.h"

namespace laneway::service {

/// What one look at the service found.
struct Look {
  std::vector<LaneView> lanes;
  Totals totals;
  std::vector<DownstreamStatus> downstreams;  ///< of each stage; empty until the service has started
  std::optional<Readiness> readiness;         ///< nullopt if this look did not judge it
};

class Changes {
 public:
  /// Adds what is new to the timeline.
  void observe(const Look& look, TimePoint now, std::int64_t wall_ms, Timeline& timeline);

  /// An operator has requested this. What was carried out is an event, also if a look comes too late to see
  /// it.
  void requested(const ControlRequest& request, const ControlAnswer& answer, std::int64_t wall_ms,
                 Timeline& timeline);
  /// An operator has put other settings in force.
  void reloaded(std::int64_t wall_ms, Timeline& timeline);

  /// Rebalances that were seen; unlike Totals, the number survives new members.
  std::uint32_t rebalances() const { return rebalances_; }

 private:
  struct Event {
    TimelineEvent::Level level;
    std::string text;
  };

  void add(const Event& event, std::int64_t wall_ms, Timeline& timeline);
  void compare_readiness(const Readiness& readiness, std::vector<Event>& events);
  void compare_breakers(const std::vector<DownstreamStatus>& downstreams, std::vector<Event>& events);
  void compare_group(const Look& look, std::vector<Event>& events);
  void compare_lanes(const Look& look, std::vector<Event>& events) const;
  void count_letters(const Look& look, TimePoint now, std::int64_t wall_ms, bool grows, Timeline& timeline);

  std::set<std::string> reasons_;  // that are known; a reason's text has ages in it
  bool ready_ = true;
  std::vector<delivery::BreakerState> breakers_;  // in the order of the stages
  Totals totals_;
  std::map<std::string, LaneView> lanes_;  // by name
  std::uint32_t rebalances_ = 0;
  std::map<std::string, std::uint64_t> letters_;  // of the event that grows, by lane
  std::uint64_t letters_in_all_ = 0;              // of that event
  TimePoint letters_at_{};                        // when the last ones came
  bool letters_last_ = false;                     // whether the newest event is that one
};

}  // namespace laneway::service
