// The path of a record through routing, pools and stages as text, for `laneway check`. Pure.
#pragma once

#include <string>

#include "config/config.h"

namespace laneway::app {

/// A line for each pool that records come to from the topics, with the texts that lead to it and the pools
/// after it; then a line for each pool, with what bounds it. Empty without named pools.
std::string record_path(const config::Config& config);

/// How far records of a partition run ahead of its oldest unfinished record, and what happens then.
/// `lane_bytes`: the partition's share of lanes.memory.
std::string bound_of_lanes(const config::Config& config, const std::string& lane_bytes);

}  // namespace laneway::app
