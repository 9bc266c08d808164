#include "service/pools/pool_status.h"

#include <algorithm>

#include "base/utc_time.h"
#include "config/text.h"
#include "service/pools/shared_stages.h"

namespace laneway::service {
namespace {

using config::counted;

void add(PoolStatus& status, const lane::PoolView& view) {
  status.running += view.pool.in_flight;
  status.slots += view.limits.workers;
  status.queued += view.pool.queued;
  status.queue_capacity += view.limits.queue;
  status.waiting += view.waiting;
  status.waiting_attempts += view.waiting_attempts;
  status.retries += view.retries_queued + view.retries_running;
  status.borrowed += view.pool.borrowed;
  status.stuck += view.pool.stuck;
  status.oldest = std::max(status.oldest, view.pool.oldest);
}

}  // namespace

std::vector<std::string> helpers_of(const config::Config& config, const std::string& name) {
  std::vector<std::string> helpers;
  for (const auto& pool : config.pools)
    if (std::find(pool.helps.begin(), pool.helps.end(), name) != pool.helps.end())
      helpers.push_back(pool.name);
  return helpers;
}

std::vector<PoolStatus> pool_statuses(const SharedStages& stages, const config::Config& config,
                                      const std::vector<LaneView>& lanes,
                                      const std::vector<DownstreamStatus>& downstreams) {
  std::vector<PoolStatus> all;
  if (!stages.named()) return all;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    PoolStatus status;
    status.name = stages.name(i);
    status.then = config.pools[i].then;
    status.total = config.pools[i].total;
    status.helped_by = helpers_of(config, status.name);
    for (const auto& lane : lanes)
      if (i < lane.pools.size()) add(status, lane.pools[i]);
    for (const auto& downstream : downstreams)
      if (downstream.pool == status.name) status.downstream = downstream;
    const auto now = SteadyClock::now();
    const auto parked = stages.parked_records().of_pool(status.name, now);
    status.parked = status_of(total_of(parked), now);
    if (const auto* subscribers = stages.subscribers(i))
      status.subscribers = subscribers_of(*subscribers, wall_clock_ms(), parked, now);
    all.push_back(std::move(status));
  }
  return all;
}

std::string trouble_in_words(const PoolStatus& pool, std::int64_t now_ms) {
  const auto parked = in_words(pool.parked, now_ms);
  if (pool.downstream) {
    if (const auto since = out_since_ms(*pool.downstream, now_ms))
      return "out since " + utc_clock(*since, now_ms) + ": its records wait" +
             (parked.empty() ? "; records that do not need this pool go on while their lanes have room"
                             : ", and records that do not need this pool go on; " + parked);
    if (const auto failures = calls_in_words(*pool.downstream); !failures.empty())
      return pool.downstream->name + ' ' + failures + (parked.empty() ? "" : "; " + parked);
  }
  if (!pool.subscribers || pool.subscribers->out == 0) return parked;
  return std::to_string(pool.subscribers->out) + " of " + counted(pool.subscribers->known, "subscriber") +
         (pool.subscribers->out == 1 ? " is out" : " are out") + (parked.empty() ? "" : "; " + parked);
}

std::vector<PoolOut> pools_out(const LaneView& lane, const std::vector<PoolStatus>& pools) {
  std::vector<PoolOut> all;
  for (std::size_t i = 0; i < std::min(lane.pools.size(), pools.size()); ++i) {
    const auto& view = lane.pools[i];
    const bool out = pools[i].downstream && pools[i].downstream->out && lane.waits_for(view.name);
    if (!out && view.subscribers_out == 0) continue;
    const auto waiting = out ? view.waiting + view.waiting_attempts : view.waiting_for_them;
    const auto which = out ? "the pool " + view.name + " is out"
                           : counted(view.subscribers_out, "subscriber") + " of the pool " + view.name +
                                 (view.subscribers_out == 1 ? " is out" : " are out");
    all.push_back({view.name, waiting,
                   which + (waiting == 0 ? ""
                                         : ": " + counted(waiting, "record") + " of this lane " +
                                               (waiting == 1 ? "waits" : "wait"))});
  }
  return all;
}

}  // namespace laneway::service
