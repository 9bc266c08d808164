#include "lane/shared/memory_plan.h"

#include <algorithm>

namespace laneway::lane {
namespace {

constexpr std::uint64_t KiB = 1024;
constexpr std::uint64_t MiB = 1024 * KiB;

// Enough for full speed at 16 busy partitions; more only delays back-pressure.
constexpr std::uint64_t most_prefetched_records = 20000;
constexpr std::uint64_t most_fetch_per_partition = 1 * MiB;

}  // namespace

MemoryPlan plan_memory(std::uint64_t budget, std::uint64_t partitions, std::uint64_t brokers,
                       std::uint64_t consumers) {
  partitions = std::max(partitions, fewest_partitions);
  const std::uint64_t clients = std::max<std::uint64_t>(brokers, 1) * std::max<std::uint64_t>(consumers, 1);
  const std::uint64_t share = budget / partitions;

  MemoryPlan plan;
  plan.partitions = partitions;
  plan.lane_bytes = std::max(share / parts_of_a_share, 16 * KiB);
  const std::uint64_t prefetch = plan.lane_bytes;
  plan.fetch.queued_max_kbytes = std::max<std::uint64_t>(prefetch / KiB, 1);
  plan.fetch.queued_min_messages =
      std::clamp<std::uint64_t>(prefetch / (record_overhead + 256), 16, most_prefetched_records);
  plan.fetch.fetch_partition_bytes = std::clamp(prefetch / 2, 16 * KiB, most_fetch_per_partition);
  // One fetch response per broker and member is under way at a time.
  plan.fetch.fetch_total_bytes = std::clamp(budget / 8 / clients, 512 * KiB, 50 * MiB);
  // Long polls delay partitions that have just made room, so polls are short, except with so many partitions
  // that the requests themselves are the cost.
  plan.fetch.fetch_wait_ms = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(partitions / 2, 50, 500));
  plan.fetch.statistics_ms =
      static_cast<std::uint32_t>(std::clamp<std::uint64_t>(partitions * 30, 1000, 30000));
  return plan;
}

}  // namespace laneway::lane
