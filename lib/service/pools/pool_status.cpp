#include "service/pools/pool_status.h"

#include <algorithm>

#include "service/pools/shared_stages.h"

namespace laneway::service {
namespace {

void add(PoolStatus& status, const lane::PoolView& view) {
  status.running += view.pool.in_flight;
  status.slots += view.limits.workers;
  status.queued += view.pool.queued;
  status.queue_capacity += view.limits.queue;
  status.waiting += view.waiting;
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
    if (const auto* subscribers = stages.subscribers(i)) {
      const auto each = subscribers->all();
      status.subscribers = each.size();
      status.subscribers_out = static_cast<std::size_t>(
          std::count_if(each.begin(), each.end(), [](const auto& one) { return !one->downstream.closed(); }));
    }
    all.push_back(std::move(status));
  }
  return all;
}

}  // namespace laneway::service
