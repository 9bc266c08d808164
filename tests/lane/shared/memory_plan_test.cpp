#include "lane/shared/memory_plan.h"

#include <algorithm>

#include "catch.h"

using namespace laneway::lane;

TEST_CASE("prefetch and lanes together take at most half of the budget, for any number of partitions") {
  constexpr std::uint64_t budget = 256ULL << 20;
  for (const std::uint64_t partitions : {1, 16, 100, 1000, 4000}) {
    const auto plan = plan_memory(budget, partitions, 3, 2);
    CHECK(partitions * (plan.fetch.queued_max_kbytes * 1024 + plan.lane_bytes) <= budget / 2);
    CHECK(plan.fetch.fetch_total_bytes * 3 * 2 <= budget / 8);
    CHECK(plan.partitions == std::max(partitions, fewest_partitions));
    CHECK(plan.fetch.fetch_partition_bytes <= plan.fetch.queued_max_kbytes * 1024);
  }
}
