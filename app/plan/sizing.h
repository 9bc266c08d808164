// What a load needs: workers, queue, memory, instances.
//
// Records at work at once are the rate times the time that one takes (Little's law). Workers are to be busy
// for 70 % of the time, so that bursts and slow moments find some idle; the processors likewise. A queue
// bridges bursts of a quarter of a second: a longer one makes records wait and gets no more done.
//
// Pure; numbers that make no sense (a rate of nothing) are refused before, by whoever takes them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "config/config.h"

namespace laneway::plan {

inline constexpr double utilisation = 0.7;
inline constexpr Duration burst = milliseconds(250);

/// Settings of a service that runs already.
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
  Duration drain = config::Lanes{}.drain;
  std::uint64_t memory = config::Lanes{}.memory;
  std::optional<Running> running;
};

struct Sizing {
  double at_work = 0;                 ///< records, on average
  std::uint64_t wanted = 0;           ///< at work at most, for the utilisation
  std::uint64_t wanted_each = 0;      ///< of them, of one partition
  std::uint64_t workers = 0;          ///< lanes.workers: those, or as many as it may be
  std::uint64_t queue = 0;            ///< lanes.queue
  double capacity = 0;                ///< records a second that these workers do, if the processors bear it
  std::uint64_t most_partitions = 0;  ///< of one instance
  std::uint64_t connections = 0;      ///< calls at once that the downstream must bear
  Duration queue_wait{};              ///< of the last one in a full queue
  Duration drain{};                   ///< of a full lane
  std::uint64_t lane_bytes = 0;       ///< of the records in a full lane
  double memory_needed = 0;           ///< bytes of lanes.memory, so that they fit
  std::uint64_t memory = 0;           ///< lanes.memory
  std::uint64_t fetched_bytes = 0;    ///< of it, of what one instance has fetched ahead, at most
  std::optional<double> saturation;   ///< at work at once, that keep all the processors busy
  std::optional<double> cores;        ///< busy with the work, on average
  std::optional<std::uint64_t> instances;  ///< that these cores need
  std::optional<Duration> backlog;         ///< until it is done; nothing: never
  std::vector<std::string> warnings;       ///< why this cannot work, or not as it looks
};

Sizing size(const Load& load);

/// Of a sizing that is otherwise complete; the worst first.
std::vector<std::string> warnings_of(const Load& load, const Sizing& sizing);

}  // namespace laneway::plan
