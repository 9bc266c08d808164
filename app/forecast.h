// The resources and the behaviour of a configuration, as text for `laneway check`. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "config/config.h"

namespace laneway::app {

/// The facts that the numbers depend on, apart from the configuration.
struct Cluster {
  std::uint64_t partitions = 16;  ///< of all subscribed topics
  std::uint64_t brokers = 1;
  bool known = false;  ///< the brokers were asked; otherwise assumed
};

/// Several lines: memory, threads, open files, commits, drains.
std::string forecast(const config::Config& config, const Cluster& cluster);

/// The number of brokers in bootstrap.servers: the best guess before a broker has answered.
std::uint64_t named_brokers(const config::Config& config);

}  // namespace laneway::app
