#include "app/plan/sizing.h"

#include <algorithm>

#include "lane/shared/memory_plan.h"
#include "service/sizing.h"

namespace laneway::plan {
namespace {

using service::most_of;
using service::rounded_up;
using service::with_headroom;

constexpr std::uint64_t MiB = 1ULL << 20;

std::uint64_t divided_up(std::uint64_t number, std::uint64_t by) { return (number + by - 1) / by; }

Duration times(Duration duration, double factor) {
  return duration_cast<Duration>(std::chrono::duration<double, Duration::period>(duration) * factor);
}

void size_workers(const Load& load, Sizing& sizing) {
  sizing.at_work = load.rate * to_seconds(load.service_time);
  sizing.wanted = std::max<std::uint64_t>(rounded_up(with_headroom(sizing.at_work)), 1);
  sizing.wanted_each = divided_up(sizing.wanted, load.partitions);
  sizing.workers = std::min(sizing.wanted_each, most_of("lanes.workers"));
  const bool may_lower = load.measured_well && load.strained.empty();
  sizing.keeps_running_workers = load.running && !may_lower && load.running->workers > sizing.workers;
  if (sizing.keeps_running_workers) sizing.workers = load.running->workers;
  sizing.most_partitions = divided_up(load.partitions, load.instances);
  sizing.connections = sizing.workers * load.partitions;
  sizing.capacity = static_cast<double>(sizing.connections) / to_seconds(load.service_time);
}

void size_queue(const Load& load, Sizing& sizing) {
  const double rate = std::min(load.rate, sizing.capacity);
  const std::uint64_t arriving = rounded_up(rate / static_cast<double>(load.partitions) * to_seconds(burst));
  sizing.queue = std::min(std::max(arriving, 2 * sizing.workers), most_of("lanes.queue"));
  if (sizing.keeps_running_workers) sizing.queue = std::max(sizing.queue, load.running->queue);
  const double turns = static_cast<double>(sizing.queue) / static_cast<double>(sizing.workers);
  sizing.queue_wait = times(load.service_time, turns);
  sizing.drain = times(load.service_time, turns + 1);
  if (load.backlog > 0 && sizing.capacity > load.rate)
    sizing.backlog = times(seconds(1), static_cast<double>(load.backlog) / (sizing.capacity - load.rate));
}

/// lanes.memory is shared out over all partitions, whichever an instance has.
void size_memory(const Load& load, Sizing& sizing) {
  sizing.lane_bytes = (sizing.queue + sizing.workers) * (load.record_bytes + lane::record_overhead);
  sizing.memory_partitions = std::max(load.partitions, lane::fewest_partitions);
  sizing.memory_needed = static_cast<double>(lane::parts_of_a_share * sizing.memory_partitions) *
                         static_cast<double>(sizing.lane_bytes);
  const auto most = most_of("lanes.memory");
  const auto enough =
      sizing.memory_needed < static_cast<double>(most) ? rounded_up(sizing.memory_needed / MiB) * MiB : most;
  sizing.memory = std::max(load.memory, enough);
  const auto shared_out = lane::plan_memory(sizing.memory, load.partitions, 1, 1);
  sizing.fetched_bytes = shared_out.fetch.queued_max_kbytes * 1024 * sizing.most_partitions;
}

void size_processors(const Load& load, Sizing& sizing) {
  if (!load.cpu || *load.cpu == Duration::zero()) return;
  const Duration wait = std::max(load.service_time - *load.cpu, Duration::zero());
  sizing.saturation =
      static_cast<double>(load.cores * load.instances) * (1 + to_seconds(wait) / to_seconds(*load.cpu));
  sizing.cores = load.rate * to_seconds(*load.cpu);
  sizing.instances =
      std::max<std::uint64_t>(rounded_up(with_headroom(*sizing.cores) / static_cast<double>(load.cores)), 1);
}

}  // namespace

Sizing size(const Load& load) {
  Sizing sizing;
  size_workers(load, sizing);
  size_queue(load, sizing);
  size_memory(load, sizing);
  size_processors(load, sizing);
  sizing.warnings = warnings_of(load, sizing);
  return sizing;
}

}  // namespace laneway::plan
