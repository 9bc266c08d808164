// The threads of the process: their number, and the most that are expected.
//
// Threads: any. process_threads() reads a file of /proc.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "config/config.h"
#include "handler/registry.h"

namespace laneway::service {

/// A handler of the process, and the most of its records that run at once in one partition.
struct HandlerAtWork {
  handler::Resources resources;
  std::uint64_t workers;
};
/// The service's handler, or those of its named pools with their pools for retries. Pure.
std::vector<HandlerAtWork> handlers_at_work(const config::Config& config);

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

}  // namespace laneway::service
