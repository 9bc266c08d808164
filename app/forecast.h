// What a configuration will do, in words and figures, for `laneway check`. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "config/config.h"

namespace laneway::app {

/// What the figures depend on besides the configuration.
struct Cluster {
  std::uint64_t partitions = 16;  ///< of all subscribed topics
  std::uint64_t brokers = 1;
  bool known = false;  ///< asked, not assumed
};

/// Several lines: memory, threads, open files, commits, drains.
std::string forecast(const config::Config& config, const Cluster& cluster);

/// Brokers named in bootstrap.servers: the best guess before one has answered.
std::uint64_t named_brokers(const config::Config& config);

}  // namespace laneway::app
