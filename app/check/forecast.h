// The resources and the behaviour of a configuration, and the path of a record through its routing, pools and
// stages, as text for `laneway check`. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "config/config.h"
#include "kafka/types.h"

namespace laneway::app {

/// The facts that the numbers depend on, apart from the configuration.
struct Cluster {
  std::uint64_t partitions = 16;  ///< of all subscribed topics
  std::uint64_t brokers = 1;
  bool known = false;  ///< the brokers were asked; otherwise assumed
};

/// Several lines: memory, threads, open files, commits, drains.
std::string forecast(const config::Config& config, const Cluster& cluster);

/// How much more memory compressed topics take. `by_decompressed_size`:
/// kafka::fetches_by_decompressed_size().
std::string memory_of_compressed(const kafka::FetchLimits& fetch, bool by_decompressed_size);

/// A line for each pool that records come to from the topics, with the texts that lead to it and the pools
/// after it; then a line for each pool, with what bounds it. Empty without named pools.
std::string record_path(const config::Config& config);

/// How far records of a partition run ahead of its oldest unfinished record, and what happens then.
/// `lane_bytes`: the partition's share of lanes.memory.
std::string bound_of_lanes(const config::Config& config, const std::string& lane_bytes);

}  // namespace laneway::app
