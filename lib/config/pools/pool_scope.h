// A named pool and its handler as a configuration of its own: handlers are made, checked and printed by a
// Config with one handler. Pure.
#pragma once

#include <vector>

#include "config/config.h"

namespace laneway::config {

/// The configuration that the handler of `pool` is made from: `config` with the pool's handler, with
/// `passes_on` if another pool is next, and with this pool only.
Config config_of(const Config& config, const Pool& pool);

/// One configuration for each handler of the process: that of the service if there are no pools, else that of
/// each pool, in the order of Config::pools.
std::vector<Config> configs_of_handlers(const Config& config);

/// Whether the service's handler does any work: there are no pools, or one of them has no handler of its own.
bool uses_own_handler(const Config& config);

/// Nullptr if no pool has this name.
const Pool* find_pool(const Config& config, const std::string& name);

/// The pools that get records from the topics, by `route`, in the order of Config::pools.
std::vector<const Pool*> entrances(const Config& config);

}  // namespace laneway::config
