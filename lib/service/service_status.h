// What a running service reports about itself, for the status in all its forms. Plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "config/config.h"
#include "service/downstream_status.h"
#include "service/pools/pool_status.h"
#include "service/ready/readiness.h"

namespace laneway::service {

/// Totals of all members; all but the dead letters start again when the members do, for example when a topic
/// has grown.
struct Totals {
  std::uint64_t assigned = 0;  ///< rebalances that gave partitions
  std::uint64_t revoked = 0;
  std::uint64_t lost = 0;
  std::uint64_t commits = 0;
  std::uint64_t commits_failed = 0;
  std::uint64_t dead_letters = 0;  ///< acknowledged, since the process started, also of lanes that are gone
};

struct ServiceStatus {
  std::string group;
  Duration uptime{};
  std::size_t members = 0;
  std::optional<DownstreamStatus> downstream;  ///< nullopt until the service has started
  Totals totals;
  std::vector<LaneFacts> lanes;
  std::vector<PoolStatus> pools;           ///< named pools; empty without any
  std::vector<std::string> parked_orders;  ///< of operators, that stand; in words, a line each
  Readiness readiness;
  config::LaneSettings settings;
  std::uint32_t workers = config::PoolSettings{}.workers;  ///< lanes.workers
  std::uint32_t queue = config::PoolSettings{}.queue;      ///< lanes.queue
  std::uint32_t cores = 1;                                 ///< processor cores that the process may use
  Duration processor{};                                    ///< processor time that it has used
  std::vector<std::string> advice;                         ///< what to change, a line each (advice.h)
};

}  // namespace laneway::service
