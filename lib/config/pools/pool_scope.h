// The pools that records go through. Pure.
#pragma once

#include <span>
#include <vector>

#include "config/config.h"

namespace laneway::config {

/// The pools that the records go through, in the order of Config::pools; never empty. Without named pools it
/// is the unnamed one. The pools are those of `config`: nothing is copied.
std::span<const PoolSettings> stages_of(const Config& config);
std::span<const PoolSettings> stages_of(Config&& config) = delete;

std::vector<std::string> names_of(std::span<const PoolSettings> pools);
/// Nullptr if no pool has this name.
const PoolSettings* find_pool(const Config& config, const std::string& name);

/// The stages that get records from the topics, by `route`, in the order of Config::pools.
std::vector<const PoolSettings*> entrances(const Config& config);

// What users see of the stages; only output, messages and the checks of a configuration ask this.

/// Whether the service has named pools. Otherwise its one stage appears as the workers of the lanes.
bool shows_pools(const Config& config);
/// Whether the service's handler does any work: a stage has no handler of its own.
bool shows_handler(const Config& config);

}  // namespace laneway::config
