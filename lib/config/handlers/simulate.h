// The settings of `handler.simulate`. The .cpp file has the rest of the handler's configuration: keys, rules,
// and the section of the reference. See handler_schema.h. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/time.h"

namespace laneway::config {

struct HandlerSchema;

/// `handler.simulate`: behaves like work, for trying settings. Topic, partition, offset and attempt alone
/// decide which records fail or hang, so a run can be repeated.
struct SimulateSettings {
  /// A fixed duration, or, if p99 is set, a log-normal distribution through p50 and p99.
  struct Sleep {
    Duration p50 = milliseconds(10);
    std::optional<Duration> p99;
  } sleep;
  Duration spin{};                            ///< processor time, in addition to the sleep
  double fail = 0;                            ///< fraction of the attempts that fail with the answer retry
  double hang = 0;                            ///< fraction of the attempts that hang until they are stopped
  std::vector<std::int32_t> hang_partitions;  ///< partitions whose attempts all hang until they are stopped
  /// With another pool next: the number of results of a record, each with the record's value; 0: the record
  /// itself goes on.
  std::uint32_t results = 0;
  Duration timeout = seconds(30);
};

HandlerSchema schema_of(const SimulateSettings&);

}  // namespace laneway::config
