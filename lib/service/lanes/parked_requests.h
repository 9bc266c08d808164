// Carries out what operators request about parked records (lane/shared/parked_orders.h), and describes the
// orders that stand. Private to lib/service. Threads: any; blocks on short mutexes only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/config.h"
#include "service/control.h"
#include "service/lanes/lane_requests.h"
#include "service/pools/shared_stages.h"

namespace laneway::service {

/// `stages`: null until the service has started. `config`: the settings in force.
ControlAnswer order_parked(const Loops& loops, const SharedStages* stages, const config::Config& config,
                           const ControlRequest& request);

/// A line each. `now_ms`: since 1970.
std::vector<std::string> parked_orders_in_words(const SharedStages& stages, std::int64_t now_ms);

}  // namespace laneway::service
