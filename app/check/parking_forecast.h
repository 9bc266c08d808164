// What happens to the records of a pool or subscriber that is out, or cannot keep up, while others go on: how
// much room a partition has, how soon the room is used up or the first record leaves, and where records wait
// then (docs/pools.md, "When a pool cannot keep up"). Text for `laneway check`. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "config/config.h"

namespace laneway::app {

/// How soon the first record that waits leaves its lane while its pool, or a subscriber of it, is out and, if
/// nothing is parked, how soon the partition stops. The times begin when that record comes.
struct WhenOut {
  std::uint64_t rate;     ///< records a second of the partition, whoever they are for
  bool assumed;           ///< no setting limits that rate
  std::uint64_t records;  ///< that have come to the partition by then, whoever they are for
  Duration after;
  /// The same by the memory, if all records of the partition have 1 KiB and are for the one that is out.
  Duration memory_after;
};

/// `lane_bytes`: a partition's share of lanes.memory for records in flight.
WhenOut when_out(const config::Config& config, const config::PoolSettings& pool, std::uint64_t lane_bytes);

/// Several lines; empty if no record of a lane can go on while others wait.
std::string parking_forecast(const config::Config& config, std::uint64_t lane_bytes);

}  // namespace laneway::app
