#include "service/pools/pool_metrics.h"

#include <string>
#include <utility>

#include "service/pools/pool_status.h"

namespace laneway::service {
namespace {

using lane::PoolView;
using telemetry::Family;
using telemetry::metric;

struct LaneWithPools {
  const lane::Lane* lane;
  std::vector<PoolView> pools;
};

template <class Value>
Family per_pool(const telemetry::MetricInfo& info, const std::vector<LaneWithPools>& lanes, Value value) {
  Family family(info);
  for (const auto& [lane, pools] : lanes)
    for (const auto& pool : pools)
      family.add({{"topic", lane->partition().topic},
                  {"partition", std::to_string(lane->partition().partition)},
                  {"pool", pool.name}},
                 value(pool));
  return family;
}

std::vector<Family> families_of_process(const SharedStages& stages, const config::Config& config) {
  Family helpers(metric("named_pool_helpers"));
  Family subscribers(metric("named_pool_subscribers"));
  Family out(metric("named_pool_subscribers_out"));
  for (const auto& pool : pool_statuses(stages, config, {}, {})) {
    helpers.add({{"pool", pool.name}}, pool.helped_by.size());
    subscribers.add({{"pool", pool.name}}, pool.subscribers.value_or(0));
    out.add({{"pool", pool.name}}, pool.subscribers_out);
  }
  return {std::move(helpers), std::move(subscribers), std::move(out)};
}

}  // namespace

std::vector<Family> pool_families(const std::vector<std::shared_ptr<const lane::Lane>>& lanes,
                                  const SharedStages& stages, const config::Config& config) {
  if (!stages.named()) return {};
  std::vector<LaneWithPools> parts;
  for (const auto& lane : lanes) parts.push_back({lane.get(), lane->pool_views()});
  auto families = families_of_process(stages, config);
  const auto add = [&](const telemetry::MetricInfo& info, auto value) {
    families.push_back(per_pool(info, parts, value));
  };
  add(metric("named_pool_inflight"), [](const PoolView& p) { return p.pool.in_flight + p.retries_running; });
  add(metric("named_pool_queue_depth"), [](const PoolView& p) { return p.pool.queued; });
  add(metric("named_pool_waiting"), [](const PoolView& p) { return p.waiting; });
  add(metric("named_pool_slots"), [](const PoolView& p) { return p.limits.workers; });
  add(metric("named_pool_slots_borrowed"), [](const PoolView& p) { return p.pool.borrowed; });
  add(metric("named_pool_retries"), [](const PoolView& p) { return p.retries_queued + p.retries_running; });
  add(metric("named_pool_oldest_queued_seconds"),
      [](const PoolView& p) { return to_seconds(p.pool.oldest); });
  add(metric("named_pool_attempts_total"), [](const PoolView& p) { return p.done; });
  add(metric("named_pool_work_seconds_total"), [](const PoolView& p) { return to_seconds(p.work); });
  return families;
}

}  // namespace laneway::service
