// The number of processor cores that this process may use. Any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <thread>

namespace laneway {

/// By the affinity of the process (taskset, cpusets of a container); at least 1. A quota of processor time,
/// as of a container with 0.5 cores, is not considered.
inline std::uint32_t cores() { return std::max(1U, std::thread::hardware_concurrency()); }

}  // namespace laneway
