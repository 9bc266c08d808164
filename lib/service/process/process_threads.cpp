#include "service/process/process_threads.h"

#include <algorithm>
#include <fstream>
#include <string>

#include "config/pools/pool_scope.h"

namespace laneway::service {

std::uint64_t named_brokers(const config::Config& config) {
  const std::string& servers = config.client("bootstrap.servers");
  return 1 + static_cast<std::uint64_t>(std::count(servers.begin(), servers.end(), ','));
}

std::vector<HandlerAtWork> handlers_at_work(const config::Config& config) {
  std::vector<HandlerAtWork> all;
  for (const auto& pool : config::stages_of(config))
    all.push_back({handler::resources_of(pool.handler.value_or(config.handler)),
                   std::uint64_t{pool.workers} + pool.retry_workers});
  return all;
}

/// A client has its main thread, one for each broker and one for each name in bootstrap.servers. Each member
/// has the client with a thread for the group's coordinator, the loop, and its helper for requests. In
/// addition there are main, signals, watchdog, the clock and the admin server's nine threads.
ExpectedThreads expected_threads(const config::Config& config, std::uint64_t partitions,
                                 std::uint64_t brokers) {
  const auto client = 1 + named_brokers(config) + brokers;
  const std::uint64_t own = 4 + (config.admin.enabled ? 9 : 0) + (config.trace.otlp.empty() ? 0 : 1);
  std::uint64_t producers = config.dead_letter.enabled() ? 1 : 0;
  std::uint64_t of_handlers = 0;
  ExpectedThreads expected;
  for (const auto& [handler, workers] : handlers_at_work(config)) {
    if (handler.workers) expected.workers += partitions * workers;
    if (handler.produces) ++producers;
    of_handlers += handler.threads;
  }
  expected.clients = config.consumers * (client + 1) + producers * client;
  expected.all = expected.clients + config.consumers * 2 + expected.workers + of_handlers + own;
  if (of_handlers > 0) expected.senders = of_handlers;
  return expected;
}

std::optional<std::uint64_t> process_threads() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("Threads:")) return std::stoull(line.substr(8));
  return std::nullopt;
}

}  // namespace laneway::service
