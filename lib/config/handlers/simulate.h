// The settings of `handler.simulate`; the .cpp file has all else that the configuration knows about this
// handler: its keys, its rules, its section of the reference. See handler_schema.h. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/time.h"

namespace laneway::config {

template <class Alternative>
struct HandlerSchemaOf;

/// `handler.simulate`: behaves like work, to try settings with. Which records fail or hang follows from
/// topic, partition, offset and attempt alone, so a run can be repeated.
struct SimulateSettings {
  /// Sleeping, as a fixed duration or (where p99 is set) log-normal through p50 and p99.
  struct Sleep {
    Duration p50 = milliseconds(10);
    std::optional<Duration> p99;
  } sleep;
  Duration spin{};  ///< of CPU besides
  double fail = 0;  ///< fraction of attempts answered retry
  double hang = 0;  ///< fraction of attempts that hang until they are stopped
  std::vector<std::int32_t>
      hang_partitions;  ///< partitions all of whose attempts hang until they are stopped
  Duration timeout = seconds(30);
};

HandlerSchemaOf<SimulateSettings> simulate_schema();

}  // namespace laneway::config
