// The numbers of all pools of a lane together: a lane without named pools has one pool, and the sums are its
// numbers. Private to lib/service. Threads: any.
#pragma once

#include <cstdint>

#include "base/histogram.h"
#include "lane/lane.h"

namespace laneway::service {

struct LanePools {
  std::uint32_t in_flight = 0;
  std::uint32_t queued = 0;
  std::uint32_t queue_capacity = 0;
  std::uint32_t slots = 0;
  std::uint32_t free = 0;     ///< slots without a claim
  std::uint32_t threads = 0;  ///< that exist
  std::uint32_t active = 0;   ///< running threads
  std::uint32_t stuck = 0;
  std::uint64_t start_failures = 0;

  /// Does not include slots of stuck attempts, because other slots replaced them.
  std::uint32_t used() const { return slots - (slots < free ? slots : free); }
};
LanePools pools_of(const lane::Lane& lane);

/// From the start of an attempt to its answer.
Histogram::Snapshot durations_of(const lane::Lane& lane);
/// From the submission to the start.
Histogram::Snapshot queue_waits_of(const lane::Lane& lane);

}  // namespace laneway::service
