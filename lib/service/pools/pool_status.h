// A named pool in the status: its part of every lane added up, its downstream and its subscribers; and what a
// lane waits for in its pools. `laneway status` and the page have their words from here. Private to
// lib/service, except for the structs and the words. Threads: any; blocks on short mutexes only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/config.h"
#include "service/downstream_status.h"
#include "service/lane_view.h"
#include "service/pools/subscriber_status.h"

namespace laneway::service {

class SharedStages;

struct PoolStatus {
  std::string name;
  std::string then;                    ///< the next pool; empty if records are finished here
  std::vector<std::string> helped_by;  ///< pools whose idle workers run its records
  std::uint64_t running = 0;           ///< without the pool for retries, as the next ones
  std::uint64_t slots = 0;             ///< workers of all lanes
  std::uint32_t total = 0;             ///< most running records of the process; 0: no limit
  std::uint64_t queued = 0;
  std::uint64_t queue_capacity = 0;
  std::uint64_t waiting = 0;  ///< records that have come to the pool, and wait in their lane outside it
  std::uint64_t waiting_attempts = 0;  ///< records that wait in their lane for their next attempt
  std::uint64_t retries = 0;           ///< in the pool for retries, queued or running
  std::uint64_t borrowed = 0;          ///< running on workers of the pools that help
  std::uint64_t stuck = 0;
  ParkedStatus parked{};  ///< of its records, as far as this process parked them
  Duration oldest{};      ///< how long the oldest queued record has waited
  double rate = 0;        ///< attempts that end per second, over the last ten seconds
  std::optional<DownstreamStatus> downstream{};
  std::optional<Subscribers> subscribers{};  ///< nullopt without `each`
};

/// What is wrong with a pool: "out since 14:02:11Z: its records wait, …", "shop:443 fails for 3 % of calls:
/// …", "2 of 40 subscribers are out"; empty if nothing is.
std::string trouble_in_words(const PoolStatus& pool, std::int64_t now_ms);

/// A pool that is out, or has subscribers that are, and for which records of a lane wait.
struct PoolOut {
  std::string pool;
  std::uint64_t waiting = 0;  ///< records of the lane that wait for the pool, or for these subscribers
  std::string text;           ///< the same in words
};
/// In the order of the pools.
std::vector<PoolOut> pools_out(const LaneView& lane, const std::vector<PoolStatus>& pools);

/// Without rates, which a LaneHistory knows; in the order of Config::pools. Empty without named pools.
std::vector<PoolStatus> pool_statuses(const SharedStages& stages, const config::Config& config,
                                      const std::vector<LaneView>& lanes,
                                      const std::vector<DownstreamStatus>& downstreams);

/// The pools that help the pool `name`.
std::vector<std::string> helpers_of(const config::Config& config, const std::string& name);

}  // namespace laneway::service
