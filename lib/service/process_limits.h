// What the process needs of descriptors and threads, against what it may have.
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
  std::uint64_t least = 0;  ///< without these nothing works
  std::uint64_t all = 0;    ///< at most about, with every lane at work
};
/// Files, sockets and pipes. Pure.
ExpectedDescriptors expected_descriptors(const config::Config& config, std::uint64_t partitions,
                                         std::uint64_t brokers);

struct Allowed {
  std::uint64_t descriptors = 0;  ///< ulimit -n
  std::uint64_t threads = 0;      ///< ulimit -u, of all processes of the user; it does not hold for root
};
/// Without a limit: the largest number.
Allowed allowed();

/// What may run out with every lane at work; empty where all of it fits. Pure.
std::vector<std::string> limit_warnings(const config::Config& config, std::uint64_t partitions,
                                        std::uint64_t brokers, const Allowed& allowed);

/// Whether the process can begin at all, or go on to begin: descriptors are counted, and the threads that are
/// not there yet are tried out, as limits on memory, on processes and on control groups show in nothing else.
/// The client library hangs or ends the process where a thread is refused. Error: exhausted.
Status check_limits(const config::Config& config, std::uint64_t brokers);

}  // namespace laneway::service
