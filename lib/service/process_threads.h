// The threads of the process: how many there are, and how many there should be at most.
//
// Threads: any. process_threads() reads a file of /proc.
#pragma once

#include <cstdint>
#include <optional>

#include "config/config.h"

namespace laneway::service {

struct ExpectedThreads {
  std::uint64_t workers = 0;
  std::uint64_t senders = 1;  ///< where there are no workers
  std::uint64_t clients = 0;  ///< of the Kafka clients: their main threads, and one for each broker
  std::uint64_t all = 0;      ///< at most about; workers and clients are among them
};
/// With every worker of `partitions` lanes at work. Pure.
ExpectedThreads expected_threads(const config::Config& config, std::uint64_t partitions,
                                 std::uint64_t brokers);

/// Nothing where the system does not say.
std::optional<std::uint64_t> process_threads();

}  // namespace laneway::service
