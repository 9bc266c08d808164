// The descriptors and threads that the process needs, compared with what it may have.
//
// Threads: any. process_threads() reads a file of /proc. Only check_limits() does more than arithmetic and
// reading limits: it starts threads, and waits for them to end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/config.h"

namespace laneway::service {

/// The number of brokers in bootstrap.servers: the best guess before a broker has answered. Pure.
std::uint64_t named_brokers(const config::Config& config);

struct ExpectedThreads {
  std::uint64_t workers = 0;
  std::uint64_t senders = 1;  ///< if there are no workers
  std::uint64_t clients = 0;  ///< threads of the Kafka clients: their main threads, and one for each broker
  std::uint64_t all = 0;      ///< about the most; includes workers and clients
};
/// With all workers of `partitions` lanes running. Pure.
ExpectedThreads expected_threads(const config::Config& config, std::uint64_t partitions,
                                 std::uint64_t brokers);

/// nullopt if the system does not report the number.
std::optional<std::uint64_t> process_threads();

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
