// The workers, queue, memory and instances that a load needs.
//
// The number of running records is the rate times the service time of a record (Little's law). Workers and
// processors have the headroom of service/sizing.h. A queue bridges bursts of a quarter of a second: a longer
// queue makes records wait and adds no throughput.
//
// A plan lowers the workers of a running service only if the load was measured well enough, as a quiet moment
// does not show what the peak needs, and if all lanes keep up.
//
// Pure. The caller refuses numbers that make no sense, such as a rate of 0.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "config/config.h"

namespace laneway::plan {

inline constexpr Duration burst = milliseconds(250);
/// A load that was measured for so long, and with so many finished records, is measured well enough.
inline constexpr Duration least_window = seconds(60);
inline constexpr std::uint64_t least_records = 1000;

/// Settings of a running service.
struct Running {
  std::uint64_t workers = 0;
  std::uint64_t queue = 0;
};

struct Load {
  double rate = 0;  ///< records a second, of all partitions together
  Duration service_time{};
  std::optional<Duration> cpu;  ///< processor time of a record in this process, part of the service time
  std::uint64_t partitions = 16;
  std::uint64_t instances = 1;
  std::uint64_t cores = 1;  ///< of an instance
  std::uint64_t backlog = 0;
  std::uint64_t record_bytes = 1024;  ///< key and value, on average
  Duration drain = config::LaneSettings{}.drain;
  std::uint64_t memory = config::LaneSettings{}.memory;
  std::optional<Running> running;
  bool measured_well = true;  ///< or the rate was given
  /// Records per second by which the backlog was measured to shrink (negative: to grow). nullopt if the load
  /// is given.
  std::optional<double> shrinking;
  /// Lanes that do not keep up, with the reason. The arithmetic is that of an average lane, so it says
  /// nothing about these lanes.
  std::vector<std::string> strained;
};

struct Sizing {
  double at_work = 0;                   ///< running records, on average
  std::uint64_t wanted = 0;             ///< workers of all partitions, for the utilisation
  std::uint64_t wanted_each = 0;        ///< workers of one partition
  std::uint64_t workers = 0;            ///< lanes.workers: wanted_each, or the largest value of the key
  bool keeps_running_workers = false;   ///< more than wanted_each: see the comment above
  std::uint64_t queue = 0;              ///< lanes.queue
  double capacity = 0;                  ///< records a second that these workers do, if the processors bear it
  std::uint64_t most_partitions = 0;    ///< of one instance
  std::uint64_t connections = 0;        ///< calls at once that the downstream must bear
  Duration queue_wait{};                ///< of the last record in a full queue
  Duration drain{};                     ///< of a full lane
  std::uint64_t lane_bytes = 0;         ///< of the records in a full lane
  std::uint64_t memory_partitions = 0;  ///< among which lanes.memory is divided
  double memory_needed = 0;             ///< bytes of lanes.memory, so that they fit
  std::uint64_t memory = 0;             ///< lanes.memory
  std::uint64_t fetched_bytes = 0;      ///< maximum for the records that one instance fetches ahead
  std::optional<double> saturation;     ///< running records that keep all processors busy
  std::optional<double> cores;          ///< busy with the work, on average
  std::optional<std::uint64_t> instances;  ///< that these cores need
  std::optional<Duration> backlog;         ///< until it is done; nullopt if never
  std::vector<std::string> warnings;       ///< why this cannot work, or not as it looks
};

Sizing size(const Load& load);
/// As text: each number with its arithmetic.
std::string print(const Load& load, const Sizing& sizing);

/// The warnings about a sizing that is otherwise complete, worst first.
std::vector<std::string> warnings_of(const Load& load, const Sizing& sizing);

}  // namespace laneway::plan
