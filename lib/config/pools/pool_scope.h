// The pools that records go through, and a pool with its handler as a configuration of its own: handlers are
// made, checked and printed by a Config with one handler. Pure.
#pragma once

#include <vector>

#include "config/config.h"

namespace laneway::config {

/// A pool by `lanes`, `breaker` and the service's handler, which are also the defaults of named pools.
Pool unnamed_pool(const Config& config);
/// The pools that the records go through, in the order of Config::pools; never empty. Without named pools
/// there is the unnamed one.
std::vector<Pool> stages_of(const Config& config);

/// The configuration that the handler of `pool` is made from: `config` with the pool's handler, and with this
/// pool only.
Config config_of(const Config& config, const Pool& pool);

/// Of such a configuration: whether the handler's answers are results that go to another pool.
bool passes_on(const Config& of_handler);

/// Whether the service's handler does any work: a pool has no handler of its own.
bool uses_own_handler(const Config& config);

/// Nullptr if no pool has this name.
const Pool* find_pool(const Config& config, const std::string& name);

/// The pools that get records from the topics, by `route`, in the order of Config::pools.
std::vector<const Pool*> entrances(const Config& config);

}  // namespace laneway::config
