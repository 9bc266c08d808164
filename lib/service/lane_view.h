// One lane at one moment, for tables, status, metrics and readiness: plain numbers, read from what its loop
// publishes. Threads: any.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/histogram.h"
#include "base/time.h"
#include "lane/stage/stages.h"
#include "lane/state/lane_state.h"

namespace laneway::lane {
class Lane;
}

namespace laneway::service {

struct LaneView {
  /// A younger record holds back commits too, as every record does for a while.
  static constexpr Duration blocked_after = seconds(30);

  std::size_t member = 0;
  std::string topic;
  std::int32_t partition = 0;
  std::uint64_t epoch = 0;
  lane::State state = lane::State::assigned;
  std::int64_t lag = -1;              ///< records that are not finished; -1 if not known
  std::uint64_t finished_beyond = 0;  ///< finished records above the oldest one that is not finished
  std::uint32_t queued = 0;           ///< also those that wait in the lane for a named pool
  std::uint32_t queued_in_pools = 0;  ///< without those, so at most queue_capacity
  std::uint32_t queue_capacity = 0;
  std::uint32_t in_flight = 0;
  std::uint32_t workers = 0;  ///< the most that may run
  std::uint64_t waiting_retries = 0;
  std::uint64_t done = 0;  ///< since the assignment
  std::int64_t committed = -1;
  std::int64_t stored_decision_ms = 0;  ///< when the suspension or its end was decided that the brokers have
  std::uint64_t holds = 0;
  std::uint64_t pauses = 0;
  std::int64_t delivered = -1;        ///< the last offset taken since the assignment; -1 if none
  std::uint64_t finished = 0;         ///< done, or acknowledged by a retry or dead-letter topic
  std::uint64_t dead_letters = 0;     ///< acknowledged
  std::uint32_t free_workers = 0;     ///< workers without a record
  std::uint32_t threads = 0;          ///< of its workers, that exist
  std::uint32_t active_threads = 0;   ///< that run a record
  std::uint64_t processed_bytes = 0;  ///< keys and values of finished records
  Duration work{};                    ///< time that its workers worked since the assignment
  std::uint64_t refused_threads = 0;  ///< workers that the system did not let it start
  std::uint32_t stuck = 0;            ///< claims with a job that ignores its stop
  lane::HoldBits hold_bits = 0;
  /// How long the oldest unfinished record has held back the commits; zero if there is none.
  Duration oldest_age{};
  Duration silent{};       ///< how long the partition has been silent (lane/position/silence_watch.h)
  Duration retry_delay{};  ///< of a retry topic; otherwise zero
  bool due = true;         ///< false while the oldest record waits for the end of that delay
  std::vector<lane::PoolView> pools{};  ///< the named pools; the numbers above are of all pools together

  /// Without the workers of stuck attempts, because others have replaced them.
  std::uint32_t used_workers() const { return workers - std::min(workers, free_workers); }
  bool held_by(lane::Hold reason) const { return (hold_bits & lane::bit(reason)) != 0; }
  bool suspended() const { return held_by(lane::Hold::suspended); }
  /// `paused` is a hold of the service's own that has lasted, so a lane that an operator has suspended is
  /// neither held nor paused.
  const char* state_in_words() const {
    const bool takes_none = state == lane::State::held || state == lane::State::paused;
    return takes_none && suspended() ? "suspended" : lane::name_of(state);
  }
  /// An old record holds back the commits of records that are finished.
  bool commits_blocked() const { return finished_beyond > 0 && oldest_age >= blocked_after; }
  /// Whether it has records that will call the downstream; also if it does not know. What an operator has
  /// suspended is not taken.
  bool waits() const {
    if (queued > 0 || in_flight > 0) return true;
    if (!due) return false;
    return waiting_retries > 0 || (lag != 0 && !suspended());
  }
  /// The same for the downstream of a named pool.
  bool waits_for(const std::string& pool) const {
    return std::any_of(pools.begin(), pools.end(), [&](const lane::PoolView& view) {
      return view.name == pool && view.waiting + view.waiting_attempts + view.pool.queued +
                                          view.pool.in_flight + view.retries_queued + view.retries_running >
                                      0;
    });
  }
  bool at_work() const {
    return state == lane::State::running || state == lane::State::held || state == lane::State::paused;
  }
};

/// `member`: the place of its loop.
LaneView view_of(const lane::Lane& lane, std::size_t member);
/// Of all its pools together: from the start of an attempt to its answer, and from the submission to the
/// start.
Histogram::Snapshot durations_of(const lane::Lane& lane);
Histogram::Snapshot queue_waits_of(const lane::Lane& lane);

/// Whether any record waits for a downstream: that of the service, or that of the named pool.
inline bool any_waits(const std::vector<LaneView>& lanes, const std::string& pool = {}) {
  return std::any_of(lanes.begin(), lanes.end(),
                     [&](const auto& lane) { return pool.empty() ? lane.waits() : lane.waits_for(pool); });
}
inline std::string name_of(const LaneView& lane) { return lane.topic + ':' + std::to_string(lane.partition); }

}  // namespace laneway::service
