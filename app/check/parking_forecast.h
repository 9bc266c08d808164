// What happens to the records of a pool or subscriber that is out, or cannot keep up, while others go on: how
// much room they have in their partition, how fast they use the room up, and where they wait then
// (docs/pools.md, "When a pool cannot keep up"). Text for `laneway check`. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "config/config.h"

namespace laneway::app {

/// Several lines; empty if no record of a lane can go on while others wait. `lane_bytes`: a partition's share
/// of lanes.memory for records in flight.
std::string parking_forecast(const config::Config& config, std::uint64_t lane_bytes);

}  // namespace laneway::app
