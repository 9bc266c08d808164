// What to change, judged by how the lanes were used: the advice of /status and of `laneway status`.
//
// More workers help only if all of them are busy and the lag does not fall, and nothing else is the limit:
// the processors, the connections, the order, the memory, a downstream that is out. So the limit of each lane
// is determined, and each limit gives one line. A backlog that will be finished within the hour is no reason
// to change anything. Sizes are those of `laneway plan` (service/sizing.h).
//
// Pure.
#pragma once

#include <string>
#include <vector>

#include "config/config.h"
#include "service/advice/usage.h"

namespace laneway::service {

struct AdviceSettings {
  config::LaneSettings lanes;
  std::uint32_t workers = config::PoolSettings{}.workers;  ///< of all stages, as `queue`
  std::uint32_t queue = config::PoolSettings{}.queue;
  bool pools = false;                 ///< there are named pools
  std::uint64_t connections = 0;      ///< shared by all lanes; 0: no limit
  bool outage = false;                ///< the breaker is not closed now
  bool keeps_pace = false;            ///< the downstream has asked for fewer calls
  double cores = 1;                   ///< processor cores that the process may use
  Duration least_span = seconds(60);  ///< a lane that was observed for less is not judged
};

/// One line each, the most important first; empty before `least_span` has been observed.
std::vector<std::string> advise(const Usage& usage, const AdviceSettings& settings);

}  // namespace laneway::service
