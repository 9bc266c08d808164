// The numbers of the named pools as metric families. Private to lib/service. Threads: any.
#pragma once

#include <memory>
#include <vector>

#include "config/config.h"
#include "lane/lane.h"
#include "service/pools/shared_stages.h"
#include "telemetry/metrics.h"

namespace laneway::service {

/// Empty without named pools.
std::vector<telemetry::Family> pool_families(const std::vector<std::shared_ptr<const lane::Lane>>& lanes,
                                             const SharedStages& stages, const config::Config& config);

}  // namespace laneway::service
