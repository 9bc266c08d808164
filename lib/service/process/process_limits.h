// The descriptors and threads that the process needs, compared with what it may have.
//
// Threads: any. Only check_limits() does more than arithmetic and reading limits: it starts threads, and
// waits for them to end.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/config.h"

namespace laneway::service {

struct ExpectedDescriptors {
  std::uint64_t least = 0;  ///< nothing works with fewer
  std::uint64_t all = 0;    ///< about the most, with every lane running
};
/// Files, sockets and pipes. Pure.
ExpectedDescriptors expected_descriptors(const config::Config& config, std::uint64_t partitions,
                                         std::uint64_t brokers);

struct Allowed {
  std::uint64_t descriptors = 0;  ///< ulimit -n
  std::uint64_t threads = 0;      ///< ulimit -u, for all processes of the user; not applied to root
};
/// The largest number if there is no limit.
Allowed allowed();

/// What may run out with every lane running; empty if everything fits. Pure.
std::vector<std::string> limit_warnings(const config::Config& config, std::uint64_t partitions,
                                        std::uint64_t brokers, const Allowed& allowed);

/// Whether the process can start, or continue to start: counts descriptors, and tries to start the missing
/// threads, because limits on memory, on processes and on control groups can be found in no other way. The
/// client library hangs or ends the process if a thread is refused. Error: exhausted.
Status check_limits(const config::Config& config, std::uint64_t brokers);

}  // namespace laneway::service
