// One lane at a moment, for tables, status and readiness: plain numbers, read from what its loop publishes.
#pragma once

#include <cstdint>
#include <string>

#include "base/time.h"
#include "lane/state/lane_state.h"

namespace laneway::service {

struct LaneView {
  std::size_t member = 0;
  std::string topic;
  std::int32_t partition = 0;
  std::uint64_t epoch = 0;
  lane::State state = lane::State::assigned;
  std::int64_t lag = -1;  ///< -1: not known
  std::uint32_t queued = 0;
  std::uint32_t queue_capacity = 0;
  std::uint32_t in_flight = 0;
  std::uint32_t workers = 0;  ///< at most
  std::uint64_t waiting_retries = 0;
  std::uint64_t done = 0;  ///< since the assignment
  std::int64_t committed = -1;
  std::uint64_t holds = 0;
  std::uint64_t pauses = 0;
  std::int64_t delivered = -1;        ///< the last offset taken since the assignment; -1: none
  std::uint64_t finished = 0;         ///< done, or acknowledged by a retry or dead-letter topic
  std::uint64_t dead_letters = 0;     ///< acknowledged
  std::uint32_t free_workers = 0;     ///< workers that have nothing to do
  std::uint64_t processed_bytes = 0;  ///< keys and values of what is finished
  Duration work{};                    ///< that its workers spent, since the assignment
  std::uint64_t refused_threads = 0;  ///< workers that the system did not let it start
  std::uint32_t stuck = 0;            ///< claims with a job that ignores its stop
  lane::HoldBits hold_bits = 0;
  Duration oldest_age{};   ///< of the oldest record that is not done; zero: there is none
  Duration silent{};       ///< so long the partition has been silent (lane/position/silence_watch.h)
  Duration retry_delay{};  ///< of a retry topic; else zero

  bool held_by(lane::Hold reason) const { return (hold_bits & lane::bit(reason)) != 0; }
  bool paused_by_hand() const { return held_by(lane::Hold::by_hand); }
  bool at_work() const {
    return state == lane::State::running || state == lane::State::held || state == lane::State::paused;
  }
};

inline std::string name_of(const LaneView& lane) {
  return lane.topic + '[' + std::to_string(lane.partition) + ']';
}

}  // namespace laneway::service
